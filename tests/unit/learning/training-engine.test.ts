import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { batchSequences } from "../../../src/learning/batch.ts";
import { createMemoryCheck } from "../../../src/learning/memory-check.ts";
import { supervisedObjective } from "../../../src/learning/supervised-objective.ts";
import { trainedParameters } from "../../../src/learning/trainer-state.ts";
import { createTrainingEngine, type TrainingEngineOptions } from "../../../src/learning/training-engine.ts";
import { trainingModel } from "../../../src/learning/training-graphs.ts";
import { copyTrainerState } from "../../support/copy-trainer-state.ts";
import { relativeError } from "../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config, trajectories, state } = await ppoFixture();
const actions = trajectories.flatMap(({ mask }) => mask).filter(Boolean).length;
const samples = trajectories.map((trajectory) => {
  const count = trajectory.mask.filter(Boolean).length;
  return { sequences: [trajectory], columns: { weights: new Float32Array(count).fill(1 / actions) } };
});

async function updated(options: Partial<TrainingEngineOptions>) {
  const engine = createTrainingEngine({
    ...{ config, state: copyTrainerState(state), gradientClip: 0.5, weightDecay: 0.1, ...options },
  });
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-3 };
  const results = [await engine.update(request), await engine.update(request)];
  await engine.close();
  return { results, state: engine.state };
}

test.each([
  ["split into runs of one trajectory", { maxTokensPerRun: 1 }],
  ["split into two runs", { maxTokensPerRun: 30 }],
  ["whose layers are computed again", { recompute: true }],
])("a minibatch %s ends where the whole one does", async (_, options) => {
  const [whole, other] = [await updated({}), await updated(options)];
  other.results.forEach((result, index) => {
    const expected = whole.results[index]!;
    expect(result.loss).toBeCloseTo(expected.loss, 5);
    expect(result.gradientNorm / expected.gradientNorm).toBeCloseTo(1, 5);
    expect(relativeError(result.logProbabilities, expected.logProbabilities)).toBeLessThan(1e-5);
  });
  for (const [name, { data }] of trainedParameters(other.state)) {
    expect(relativeError(data, trainedParameters(whole.state).get(name)!.data), name).toBeLessThan(1e-4);
  }
});

test("closing waits for the run under way, whose update fails with nothing changed", async () => {
  const options = { config, gradientClip: 0.5, weightDecay: 0.1 };
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-3 };
  for (const turns of [0, 1, 3]) {
    const engine = createTrainingEngine({ ...options, state: copyTrainerState(state), maxTokensPerRun: 1 });
    await engine.update(request);
    const before = copyTrainerState(engine.state);
    const under = Promise.allSettled([engine.update(request), engine.score(trajectories, "policy")]);
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    await Promise.all([engine.close(), engine.close()]);
    for (const outcome of await under) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "TRAINER_CLOSED" } });
    }
    expect(engine.state).toEqual(before);
    await expect(engine.update(request)).rejects.toMatchObject({ code: "TRAINER_CLOSED" });
  }
});

test("a run that needs more memory than there is is refused, with what it needs and what to do", () => {
  const { graph } = trainingModel({ config }, supervisedObjective);
  const run = { graph, batch: batchSequences(trajectories, config), samples: 6, besideBytes: 5e6 };
  const check = createMemoryCheck(() => 1e6);
  expect(() => check(run)).toThrow(
    /Training on \d+ tokens at once needs about 6 MB more memory, but 1 MB are available/,
  );
  expect(() => check(run)).toThrow("maxTokensPerRun");
  // What was there once is kept, and counts no second time.
  const available = [1e8, 0];
  const later = createMemoryCheck(() => available.shift() ?? 0);
  later(run);
  later(run);
  expect(() => later({ ...run, besideBytes: 6e6 })).toThrow("needs about 1 MB more");
});
