import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { batchSequences } from "../../../src/learning/batch.ts";
import { createMemoryCheck } from "../../../src/learning/memory-check.ts";
import { supervisedObjective } from "../../../src/learning/supervised-objective.ts";
import { copyTrainerState, trainedParameters } from "../../../src/learning/trainer-state.ts";
import { createTrainingEngine, type TrainingEngineOptions } from "../../../src/learning/training-engine.ts";
import { trainingModel } from "../../../src/learning/training-graphs.ts";
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
  const options = { config, state: copyTrainerState(state), gradientClip: 0.5, weightDecay: 0.1 };
  const engine = createTrainingEngine({ ...options, maxTokensPerRun: 1 });
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-3 };
  await engine.update(request);
  const before = copyTrainerState(engine.state);
  for (const turns of [0, 1, 2, 3, 4, 5]) {
    const late = createTrainingEngine({ ...options, state: copyTrainerState(before), maxTokensPerRun: 1 });
    await late.score(trajectories, "policy");
    const under = [late.update(request), late.score(trajectories, "policy")];
    const outcomes = Promise.allSettled(under);
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    await Promise.all([late.close(), late.close()]);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "TRAINER_CLOSED" } });
    }
    expect(late.state).toEqual(before);
    await expect(late.update(request)).rejects.toMatchObject({ code: "TRAINER_CLOSED" });
  }
  await engine.close();
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
