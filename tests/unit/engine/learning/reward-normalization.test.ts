import { expect, test } from "vitest";
import {
  type RunningMoments,
  rewardScale,
  withNormalizedReward,
  withNumbers,
} from "../../../../src/engine/learning/reward-normalization.ts";

const batches = [[3, -1, 0.5], [12], [], [0.1, 0.1, 7, -4, 2]];
const all = batches.flat();
const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
const deviation = Math.sqrt(all.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (all.length - 1));
const moments = batches.reduce<RunningMoments>(withNumbers, withNumbers(undefined, []));

test("what is kept from batch to batch is the mean and the deviation of all numbers", () => {
  expect(moments.count).toBe(all.length);
  expect(moments.mean).toBeCloseTo(mean, 12);
  expect(rewardScale(moments)).toBeCloseTo(deviation, 12);
  // Through JSON, as it is saved, it goes on to the same number.
  expect(withNumbers(JSON.parse(JSON.stringify(moments)), [1, 2])).toEqual(withNumbers(moments, [1, 2]));
});

test("rewards that are all equal, or a single one, are divided by nothing", () => {
  for (const numbers of [[0.1], Array(64).fill(0.1), [0, 0]]) {
    expect(rewardScale(withNumbers(undefined, numbers))).toBe(1);
  }
});

test("a reward is scaled or standardized, then clipped; those of turns are scaled", () => {
  const given = { tokens: [1, 2], mask: [0, 1], logprobs: [0, -1], reward: 7, turnRewards: [2, 0] };
  const normalized = (settings: Parameters<typeof withNormalizedReward>[1]) =>
    withNormalizedReward(given, settings, moments);
  expect(normalized({})).toEqual(given);
  const scaled = normalized({ rewardNormalization: "scale" });
  expect(scaled.reward).toBeCloseTo(7 / deviation, 12);
  expect(scaled.turnRewards?.[0]).toBeCloseTo(2 / deviation, 12);
  const standardized = normalized({ rewardNormalization: "standardize" });
  expect(standardized.reward).toBeCloseTo((7 - mean) / deviation, 12);
  expect(standardized.turnRewards).toEqual(scaled.turnRewards);
  expect(normalized({ rewardClip: 2.5 }).reward).toBe(2.5);
  expect(normalized({ rewardNormalization: "standardize", rewardClip: 0.25 }).reward).toBe(0.25);
  const lost = withNormalizedReward({ ...given, reward: -9 }, { rewardClip: 2.5 }, moments);
  expect(lost.reward).toBe(-2.5);
});
