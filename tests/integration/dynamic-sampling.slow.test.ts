import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defined } from "../../src/base/records/defined.ts";
import type {
  DrawTasksInput,
  LoadTaskInput,
  RecordLeftOutInput,
  ReserveGroupsInput,
  ScoreGroupInput,
  ScoreInput,
  TrainStepInput,
} from "../../src/contracts/activities.ts";
import type { GenerateTurnInput } from "../../src/contracts/generate-turn.ts";
import { type StepWorker, startSteps, taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let worker: StepWorker;

/** What each task's two samples earn. */
const rewards: Record<string, [number, number]> = {
  varied: [0, 1],
  solved: [1, 1],
  unsolved: [0, 0],
  late: [1, 0],
};
let rounds: string[][] = [];
const compared: (string | number)[][] = [];
const leftOut: string[] = [];

const activities = {
  "draw-tasks": async ({ replacement }: DrawTasksInput) => {
    const tasks = rounds[(replacement?.round ?? 1) - 1] ?? [];
    return tasks.slice(0, replacement?.count);
  },
  "reserve-groups": async ({ groups }: ReserveGroupsInput) => groups.map(({ task }) => task),
  "load-task": async ({ place }: LoadTaskInput) => taskOf(place.task),
  "generate-turn": async ({ turn }: GenerateTurnInput) => {
    const call = '<tool_call>{"name": "hint", "arguments": {}}</tool_call>';
    return {
      action: turn === 1 ? call : "done",
      finishReason: "stop",
      head: "a".repeat(64),
      policyVersion: 0,
      tokens: { prompt: 1, action: 1, observation: 0 },
      seconds: 0,
    };
  },
  hint: async () => ({ observation: "none", valid: true, reward: 0.5, attempts: 1, seconds: 0 }),
  "score-trajectory": async ({ place }: ScoreInput) => ({
    reward: rewards[place.task]?.[place.sample] ?? 0,
    success: false,
  }),
  "score-group": async ({ group, finished }: ScoreGroupInput) => {
    compared.push([group.task, ...finished]);
    if (group.task === "unsolved") throw ApplicationFailure.nonRetryable("the judge is away", "REWARD_X");
    return finished.map((sample) =>
      group.task === "varied" && sample === 0
        ? { sample, failure: "rank: it has no score" }
        : { sample, reward: sample, success: true },
    );
  },
  "record-left-out": async ({ place, failure }: RecordLeftOutInput) =>
    void leftOut.push(`${place.task}/${place.sample}: ${failure}`),
};

beforeAll(async () => {
  worker = await startSteps(folder, activities);
});
afterAll(() => worker.stop());

function step(number: number, maxRounds: number, group = false): Promise<TrainStepInput> {
  const tool = {
    definition: { name: "hint", description: "Hints.", parameters: {} },
    retry: { maximumAttempts: 1, initialInterval: 100, backoffCoefficient: 1, maximumInterval: 100 },
    timeout: 5000,
    stateful: false,
    pure: true,
  };
  return worker.step(number, {
    seed: 1,
    steps: 1,
    warmStartSteps: 0,
    batchSize: 4,
    groupSize: 2,
    concurrency: 4,
    dynamicSampling: { maxRounds },
    sampling: { temperature: 1, maxTokens: 8 },
    tools: [tool],
    evaluationEvery: 1,
    evaluationTasks: 1,
    staleness: 0,
    minGroup: 0,
    limits: {},
    maxInfrastructureFailures: 1,
    reward: defined({
      retry: tool.retry,
      pure: true,
      group: group ? { retry: tool.retry, pure: false } : undefined,
    }),
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 2 } },
  });
}

const members = ({ batch }: TrainStepInput) => batch.map(({ group, reward }) => [group, reward]);

test("tasks whose trajectories all earn the same are replaced until there are enough", async () => {
  rounds = [["varied", "solved"], ["unsolved"], ["late"]];
  const { batch } = await step(1, 5);
  expect(batch.map(({ group, reward }) => [group, reward])).toEqual([
    ["varied", 0],
    ["varied", 1],
    ["late", 1],
    ["late", 0],
  ]);
  expect(worker.records.at(-1)).toMatchObject({ trajectories: 4, groupsLeftOut: 2, rewardMean: 0.5 });
});

test("after the last round the step trains on what it has, on all of it if nothing differs", async () => {
  rounds = [["varied", "solved"], ["unsolved"], ["late"]];
  expect(members(await step(2, 2)).map(([group]) => group)).toEqual(["varied", "varied"]);
  rounds = [["solved", "unsolved"], ["solved", "unsolved"], []];
  expect(members(await step(3, 2))).toHaveLength(4);
  expect(worker.records.at(-1)).toMatchObject({ groupsLeftOut: 4 });
});

test("a tool that only computes is called, and the trajectory scored, where the workflow runs", async () => {
  const handle = worker.client.workflow.getHandle("run/step-0001/varied/0");
  const { events } = await handle.fetchHistory();
  const scheduled = events?.flatMap(
    ({ activityTaskScheduledEventAttributes }) =>
      activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
  expect(scheduled).toEqual(["generate-turn", "generate-turn"]);
  const markers = events?.filter(({ markerRecordedEventAttributes }) => markerRecordedEventAttributes);
  const summaries = markers?.map(({ userMetadata }) =>
    Buffer.from(userMetadata?.summary?.data ?? []).toString(),
  );
  expect(summaries).toEqual(['"varied"', '"{}"', '"answered: done"']); // its task, read by its name, is the first
});

test("rewards of groups are asked when the whole group has ended, and dynamic sampling compares what they said", async () => {
  rounds = [["solved", "unsolved"], ["varied"]];
  const { batch, leftOut: reasons } = await step(4, 2, true);
  expect(compared.map((one) => one.join(" ")).sort()).toEqual(["solved 0 1", "unsolved 0 1", "varied 0 1"]);
  expect(members({ batch } as TrainStepInput)).toEqual([
    ["solved", 0],
    ["solved", 1],
  ]);
  const failed = "score-group: the judge is away";
  expect(leftOut.sort()).toEqual([`unsolved/0: ${failed}`, `unsolved/1: ${failed}`]);
  expect(reasons).toContainEqual({
    trajectory: "run/step-0004/varied/0",
    reason: "rank: it has no score",
  });
});
