import { expect, test } from "vitest";
import { warmupThenConstant, warmupThenCosine } from "../../../src/learning/schedule.ts";

test("a learning rate rises linearly, and then stays", () => {
  const rates = [0, 1, 2, 3, 4, 9].map((step) =>
    warmupThenConstant({ learningRate: 8, warmupSteps: 4 }, step),
  );
  expect(rates).toEqual([2, 4, 6, 8, 8, 8]);
  expect(warmupThenConstant({ learningRate: 8, warmupSteps: 0 }, 0)).toBe(8);
});

test("a cosine schedule rises, and ends at its final fraction", () => {
  const schedule = { learningRate: 1, warmupSteps: 2, steps: 100, finalFraction: 0.1 };
  expect(warmupThenCosine(schedule, 0)).toBeCloseTo(0.5);
  expect(warmupThenCosine(schedule, 50)).toBeCloseTo(0.55);
  expect(warmupThenCosine(schedule, 100)).toBeCloseTo(0.1);
});
