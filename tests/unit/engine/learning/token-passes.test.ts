import { expect, test } from "vitest";
import type { TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { passSizes } from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { passLimits, tokenPasses } from "../../../../src/engine/learning/token-passes.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import { trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { relativeError } from "../../torch-fixtures.ts";

const config = modelConfig({
  vocab_size: 512,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 192,
  max_position_embeddings: 4096,
});

/** A sequence of which `length` tokens have a part in the loss, and three have none. */
function sequence(length: number): TokenSequence {
  const mask = Array.from({ length: length + 4 }, (_, at) => Number(at > 0 && at <= length && at % 4 === 0));
  mask[length] = 1;
  return { tokens: mask.map((_, at) => (7 * at + length) % 512), mask };
}

const runsOf = (lengths: number[][], tokens: number, padding = Number.POSITIVE_INFINITY) =>
  tokenPasses(
    // Each begins with another token.
    lengths.map((own, number) =>
      own.map((length, at) => ({
        ...sequence(length),
        tokens: sequence(length).tokens.with(0, 10 * number + at),
      })),
    ),
    { tokens, padding, paddingPerShared: 0 },
  );

test("passes hold the longest samples first, no more tokens than allowed with an eighth of their padding, and each sample once", () => {
  expect(runsOf([[3], [9], [4], [4], [1]], 9)).toEqual([[1], [2, 3], [0, 4]]);
  expect(runsOf([[9], [3], [3], [3]], 18)).toEqual([[0, 1, 2], [3]]);
  expect(runsOf([[9], [3], [3], [3]], 18 + 2.25)).toEqual([[0, 1, 2, 3]]);
  expect(runsOf([[20], [2]], 9)).toEqual([[0], [1]]);
  expect(runsOf([[5, 2], [4, 4], [1]], 17)).toEqual([[0, 1], [2]]);
  expect(runsOf([], 9)).toEqual([]);
});

test("samples of one prompt come together, however long they are", () => {
  const answer = (prompt: number, length: number) => ({
    tokens: [prompt, ...Array.from({ length }, (_, at) => at)],
    mask: [0, ...Array.from({ length }, () => 1)],
  });
  const samples = [answer(1, 4), answer(2, 6), answer(1, 8), answer(2, 2)].map((one) => [one]);
  expect(
    tokenPasses(samples, { tokens: 16, padding: Number.POSITIVE_INFINITY, paddingPerShared: 0 }),
  ).toEqual([
    [2, 0],
    [1, 3],
  ]);
});

test("what samples begin with alike counts once, and an eighth where it stands again", () => {
  const samples = Array.from({ length: 6 }, (_, number) => [
    { tokens: [1, 2, 3, 4, 5, 6, number, number], mask: [0, 0, 0, 0, 0, 0, 1, 1] },
  ]);
  const sizes = (tokens: number) =>
    tokenPasses(samples, { tokens, padding: 0, paddingPerShared: 0 }).map((pass) => pass.length);
  // Five of the seven tokens before the last action are the same of all.
  expect(sizes(17 + 25 / 8)).toEqual([6]);
  expect(sizes(17 + 24 / 8)).toEqual([5, 1]);
  expect(sizes(9 + 5 / 8)).toEqual([2, 2, 2]);
});

test("a group goes into a pass of its own rather than into two", () => {
  const group = (prompt: number, count: number) =>
    Array.from({ length: count }, (_, number) => [
      { tokens: [prompt, 2, 3, 4, number, number], mask: [0, 0, 0, 0, 1, 1] },
    ]);
  // Of a group of four: three tokens that all share, and two of each.
  const samples = [...group(1, 4), ...group(2, 4)];
  const passes = (tokens: number) => tokenPasses(samples, { tokens, padding: 0, paddingPerShared: 0 });
  expect(passes(22 + 18 / 8)).toEqual([[0, 1, 2, 3, 4, 5, 6, 7]]);
  expect(passes(16).map((pass) => pass.length)).toEqual([4, 4]);
  expect(passes(8).map((pass) => pass.length)).toEqual([2, 2, 2, 2]);
});

test("padding costs at most as many scores in vain as allowed", () => {
  expect(runsOf([[9], [8], [7]], 100, 17 + 32)).toEqual([[0, 1, 2]]);
  expect(runsOf([[9], [8], [7]], 100, 17 + 31)).toEqual([[0, 1], [2]]);
  expect(runsOf([[9, 1], [9]], 100, 10)).toEqual([[0], [1]]);
});

test("padding may cost as much more as samples have in common", () => {
  const sample = (length: number) => [
    {
      tokens: Array.from({ length }, (_, at) => (at < 6 ? at : length)),
      mask: Array.from({ length }, (_, at) => Number(at > 5)),
    },
  ];
  // Of the first, nine tokens have a part in the loss, of the others seven; six begin all of them.
  const samples = [sample(10), sample(8), sample(8)];
  const passes = (paddingPerShared: number) =>
    tokenPasses(samples, { tokens: 100, padding: 0, paddingPerShared }).map((pass) => pass.length);
  expect(passes(32 / 5)).toEqual([3]);
  expect(passes(31 / 5)).toEqual([1, 2]);
});

test("one trajectory of 4,000 tokens with 63 of 100 takes what it takes alone", () => {
  const sequences = [4000, ...Array.from({ length: 63 }, () => 100)].map(sequence);
  const passes = tokenPasses(
    sequences.map((one) => [one]),
    passLimits(config, 8192),
  );
  const { graph } = trainingModel({ config }, supervisedObjective);
  const peaks = passes.map((pass) => {
    const sizes = passSizes(pass.map((index) => [sequences[index]!]));
    return { scores: sizes.batch * sizes.length ** 2, bytes: peakBytes(graph, sizes) };
  });
  const needed = 4000 ** 2 + 63 * 100 ** 2;
  expect(peaks.reduce((sum, { scores }) => sum + scores, 0) / needed).toBeLessThan(1.01);
  expect(Math.max(...peaks.map(({ bytes }) => bytes)) / 1e9).toBeLessThan(1.1);
});

test("unequal trajectories are trained on in little memory, with the gradients that each has alone", async () => {
  const weights = randomModelWeights(config, 1);
  const sequences = [1000, ...Array.from({ length: 31 }, () => 50)].map(sequence);
  const counts = sequences.map(({ mask }) => mask.filter(Boolean).length);
  const samples = sequences.map((one, index) => ({
    sequences: [one],
    columns: { weights: new Float32Array(counts[index]!).fill(1 / 400) },
  }));
  const update = async (maxTokensPerRun: number) => {
    const state = freshTrainerState({ config }, weights, 2);
    const engine = createTrainingEngine({ config, state, gradientClip: 1, weightDecay: 0, maxTokensPerRun });
    const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 0 };
    const before = process.resourceUsage().maxRSS;
    const result = await engine.update(request);
    const megabytes = (process.resourceUsage().maxRSS - before) / 1024;
    await engine.close();
    return { ...result, megabytes };
  };
  const together = await update(8192);
  expect(together.megabytes).toBeLessThan(250);
  const apart = await update(1);
  expect(together.loss).toBeCloseTo(apart.loss, 5);
  expect(together.gradientNorm / apart.gradientNorm).toBeCloseTo(1, 5);
  expect(relativeError(together.logProbabilities, apart.logProbabilities)).toBeLessThan(1e-5);
});
