import { expect, test } from "vitest";
import { keepLikeliest, type LikeliestOptions } from "../../../../src/engine/sampling/keep-likeliest.ts";
import { noise } from "../onnx/finite-differences.ts";

/** What the options leave, by sorting everything. */
function bySorting(weights: Float32Array, options: LikeliestOptions): number[] {
  const { topK = weights.length, topP = 1, minP = 0 } = options;
  const sorted = [...weights.keys()].sort((a, b) => weights[b]! - weights[a]! || a - b);
  const first = sorted.slice(0, topK).filter((token) => weights[token]! > 0);
  const mass = topP * first.reduce((sum, token) => sum + weights[token]!, 0);
  const kept: number[] = [];
  let reached = 0;
  for (const token of first) {
    if (topP < 1 && reached >= mass) break;
    if (weights[token]! < minP * weights[sorted[0]!]!) break;
    kept.push(token);
    reached += weights[token]!;
  }
  return kept.sort((a, b) => a - b);
}

const combinations: LikeliestOptions[] = [
  ...[1, 2, 40, 2000, 1e6].map((topK) => ({ topK })),
  ...[1e-9, 0.1, 0.5, 0.9, 0.999].map((topP) => ({ topP })),
  ...[0.01, 0.5, 1].map((minP) => ({ minP })),
  { topK: 100, topP: 0.8 },
  { topK: 1, topP: 0.1 },
  { topP: 0.7, minP: 0.3 },
  { topK: 50, topP: 0.99, minP: 0.05 },
];

const vocabulary = 5000;
const shapes: [string, (noise: number, token: number) => number][] = [
  ["peaked", (value) => Math.exp(60 * value)],
  ["flat", (value) => 1 + value / 1000],
  ["with equals", (value) => 2 ** Math.round(6 * value)],
  ["all equal", () => 0.25],
  ["mostly impossible", (value, token) => (token % 97 === 0 ? Math.exp(value) : 0)],
  ["next to nothing", (value) => 1e-42 * (2 + value)],
];

test.each(shapes)("what is left is what sorting everything leaves: %s", (_, weigh) => {
  const weights = noise(vocabulary, 3).map(weigh);
  for (const option of combinations) {
    const kept = keepLikeliest(weights, option);
    expect(
      [...kept].sort((a, b) => a - b),
      JSON.stringify(option),
    ).toEqual(bySorting(weights, option));
  }
});

test("a part of a longer array is read as one", () => {
  const both = Float32Array.of(9, 9, 9, 1, 2, 3, 4);
  expect(keepLikeliest(both.subarray(3), { topK: 2 }).sort()).toEqual([2, 3]);
});
