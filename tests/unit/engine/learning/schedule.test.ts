import { expect, test } from "vitest";
import { learningRateAt } from "../../../../src/engine/learning/schedule.ts";

const constant = { learningRate: 8, warmupSteps: 4, decay: "none", decaySteps: 1, finalFraction: 0 } as const;

test("a learning rate rises linearly, and then stays", () => {
  expect([0, 1, 2, 3, 4, 9].map((step) => learningRateAt(constant, step))).toEqual([2, 4, 6, 8, 8, 8]);
  expect(learningRateAt({ ...constant, warmupSteps: 0 }, 0)).toBe(8);
});

test.each([
  ["cosine", 0.1 + 0.9 * ((1 + Math.SQRT1_2) / 2)],
  ["linear", 0.1 + 0.9 * 0.75],
] as const)("a %s decay rises, and ends at its final fraction", (decay, quarter) => {
  const schedule = { learningRate: 1, warmupSteps: 2, decay, decaySteps: 100, finalFraction: 0.1 };
  expect(learningRateAt(schedule, 0)).toBeCloseTo(0.5);
  expect(learningRateAt(schedule, 25)).toBeCloseTo(quarter);
  expect(learningRateAt(schedule, 50)).toBeCloseTo(0.55);
  expect(learningRateAt(schedule, 100)).toBeCloseTo(0.1);
  expect(learningRateAt(schedule, 200)).toBeCloseTo(0.1);
});
