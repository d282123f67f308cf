import { expect, test } from "vitest";
import { groupPlaces } from "../../../src/contracts/group-places.ts";
import { trajectoryInput } from "../../../workflows/trajectory-input.ts";

test("a trajectory's id tells its place: run, stage, task, sample", () => {
  const place = { stage: "step-0002", step: 2, task: "task-00005", sample: 3 };
  const settings = {
    seed: 7,
    sampling: { temperature: 1, maxTokens: 8 },
    tools: [],
    limits: {},
    reward: {
      retry: { maximumAttempts: 1, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 },
      pure: true,
    },
    loop: { plugin: "loop-tool-agent", config: {} },
  };
  const queues = { orchestration: "o", policy: "p", tools: "t", trainer: "r" };
  const generation = { run: "run", policyVersion: 4, settings, queues, source: "training" } as const;
  expect(trajectoryInput(place, generation)).toEqual({
    place: { ...place, run: "run", id: "run/step-0002/task-00005/3" },
    source: "training",
    policyVersion: 4,
    queues,
    quickTurns: false,
    newest: false,
    ...settings,
  });
});

test("each task of a step has its group of samples", () => {
  expect(groupPlaces(3, ["a", "b"], 2)).toEqual([
    { step: 3, stage: "step-0003", task: "a", samples: [0, 1] },
    { step: 3, stage: "step-0003", task: "b", samples: [0, 1] },
  ]);
});

test("a task drawn twice in a step gets other samples, so that no two trajectories share an id", () => {
  const places = groupPlaces(1, ["a", "b", "a"], 2).flatMap(({ task, samples }) =>
    samples.map((sample) => `${task}/${sample}`),
  );
  expect(places).toEqual(["a/0", "a/1", "b/0", "b/1", "a/2", "a/3"]);
});
