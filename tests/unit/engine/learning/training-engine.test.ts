import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { createMemoryRoom } from "../../../../src/engine/learning/memory-room.ts";
import { passSplits } from "../../../../src/engine/learning/pass-splits.ts";
import {
  type ChosenPasses,
  choosePasses,
  type StepPlan,
  stepPlanText,
} from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { trainedParameters } from "../../../../src/engine/learning/trainer-state.ts";
import {
  createTrainingEngine,
  type TrainingEngineOptions,
} from "../../../../src/engine/learning/training-engine.ts";
import { trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config, trajectories, state } = await ppoFixture();
const actions = trajectories.flatMap(({ mask }) => mask).filter(Boolean).length;
const samplesOf = (sequences: readonly TokenSequence[]) =>
  sequences.map((sequence) => {
    const count = sequence.mask.filter(Boolean).length;
    return { sequences: [sequence], columns: { weights: new Float32Array(count).fill(1 / actions) } };
  });
const samples = samplesOf(trajectories);

/** The trajectories with one beginning: as much of it as each one's prompt is long. */
const alike = trajectories.map(({ tokens, mask }) => {
  const own = mask.indexOf(1);
  return { tokens: [...trajectories[0]!.tokens.slice(0, own), ...tokens.slice(own)], mask };
});

async function updated(options: Partial<TrainingEngineOptions>, minibatch = samples) {
  const engine = createTrainingEngine({
    config,
    state: copyTrainerState(state),
    gradientClip: 0.5,
    weightDecay: 0.1,
    ...options,
  });
  const request = { objective: supervisedObjective, samples: minibatch, scalars: {}, learningRate: 1e-3 };
  const results = [await engine.update(request), await engine.update(request)];
  await engine.close();
  return { results, state: engine.state };
}

test.each([
  ["split into passes of one trajectory", { maxTokensPerRun: 1 }, samples],
  ["split into two passes", { maxTokensPerRun: 30 }, samples],
  ["whose layers are computed again", { recompute: true }, samples],
  ["of one prompt, split into passes that share none of it,", { maxTokensPerRun: 1 }, samplesOf(alike)],
])("a minibatch %s ends where the whole one does", async (_, options, minibatch) => {
  const [whole, other] = [await updated({}, minibatch), await updated(options, minibatch)];
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

test("weights that a state was made of stay as they were, for whoever else has them", async () => {
  const own = copyTrainerState(state);
  const given = [...trainedParameters(own)].map(([name, { data }]) => ({ name, data, before: data.slice() }));
  const after = await updated({ state: own });
  for (const { name, data, before } of given) {
    expect(data, name).toEqual(before);
    const hasGradient = !name.startsWith("value_head");
    if (hasGradient) expect(trainedParameters(after.state).get(name)!.data, name).not.toEqual(before);
  }
});

test("what won't fit is refused before weights and moments are moved to where they are worked on, which takes memory too", async () => {
  const own = copyTrainerState(state);
  const tensors = () => [...own.weights.values(), ...own.optimizer.values()];
  const before = tensors().map(({ data }) => data);
  await expect(updated({ state: own, memory: 1e8 })).rejects.toMatchObject({ code: "TRAINING_MEMORY_SHORT" });
  for (const [index, { data }] of tensors().entries()) expect(data).toBe(before[index]);
  await updated({ state: own });
  expect(tensors()[0]!.data).not.toBe(before[0]);
});

test("closing waits for the pass under way, whose update fails with nothing changed", async () => {
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

test("an update that needs more memory than there is is refused, with what it needs and what to do", () => {
  const space = createMemoryRoom(undefined, () => 1e6);
  expect(() => space.take(7e6, 300)).toThrow(
    "Training on 300 tokens at once needs about 7 MB more memory, but 1 MB are available",
  );
  expect(() => space.take(7e6, 300)).toThrow("maxTokensPerRun");
  // What was there once is kept, and counts no second time.
  const available = [1e8, 0, 0];
  const later = createMemoryRoom(undefined, () => available.shift() ?? 0);
  later.take(5e6, 300);
  later.take(5e6, 300);
  expect(() => later.take(6e6, 300)).toThrow("needs about 1 MB more");
  expect(() => createMemoryRoom(() => -1e6).take(5e6, 300)).toThrow("needs about 5 MB more memory, but 0 MB");
});

const chosenRuns = (beyond: (one: ChosenPasses) => number) => {
  const sequences = samples.map((sample) => sample.sequences);
  return choosePasses(sequences, {
    config,
    recomputed: [0, config.num_hidden_layers],
    forms: true,
    vocabulary: 8192,
    beyond,
    splits: passSplits(sequences, config, { usual: [1024, 30], larger: [] }),
    graph: (recompute, attention) =>
      trainingModel({ config, recompute, attention }, supervisedObjective).graph,
  });
};

test("passes are made smaller, then layers computed again, until an update fits", () => {
  const chosen = (most: number) => chosenRuns(({ activations }) => activations - most);
  const whole = chosen(Number.POSITIVE_INFINITY);
  expect(whole).toMatchObject({ passes: [expect.any(Array)], recomputed: 0 });
  const split = chosen(whole.activations - 1);
  expect(split.recomputed).toBe(0);
  expect(split.passes.length).toBeGreaterThan(1);
  expect(split.passes.flat().sort()).toEqual([...samples.keys()]);
  const again = chosen(split.activations - 1);
  expect(again.recomputed).toBe(config.num_hidden_layers);
  expect(chosen(0).activations).toBeLessThan(split.activations);
});

test("where no way fits, the one that needs least is told, though others compute more again", () => {
  expect(chosenRuns(({ nodes }) => nodes).recomputed).toBe(0);
  expect(chosenRuns(({ nodes }) => 1 / nodes).recomputed).toBe(config.num_hidden_layers);
});

test("what an update holds is told before it begins, and refused beyond the trainer's memory", async () => {
  const plans: StepPlan[] = [];
  await updated({ onPlan: (told) => plans.push(told) });
  const [plan] = plans;
  expect(plans).toHaveLength(1);
  expect(plan).toMatchObject({ runs: 1, recomputed: 0, layers: config.num_hidden_layers, gradients: 0 });
  expect(stepPlanText(plan!)).toMatch(
    /^a training step holds about \d+ MB: weights 1, .* one pass of \d+ tokens, no layer computed again$/,
  );
  await expect(updated({ memory: 1e8 })).rejects.toMatchObject({ code: "TRAINING_MEMORY_SHORT" });
});
