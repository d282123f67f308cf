import { expect, test } from "vitest";
import { families, isFamily } from "../../../../src/engine/models/config/families.ts";
import { runCombination } from "../../../combinations/combination.ts";
import { differences } from "../../../combinations/differences.ts";

// More of them: npm run combinations.
const names = Object.keys(families).filter(isFamily);

test.each(names)("%s: what is drawn samples and trains as in the plainest way", async (family) => {
  const outcome = await runCombination(names.indexOf(family), family);
  expect(outcome.gap).toBeGreaterThan(0);
  expect(differences(outcome), JSON.stringify(outcome.drawn)).toEqual([]);
});

test("what differs is told, and a gap", () => {
  const step = { policyLoss: 0.01, entropy: 2, gradientNorm: 1 };
  const outcome = { drawn: {}, gap: 2e-4, metrics: [step, step], expected: [step, step] };
  expect(differences(outcome)).toEqual(["the gap is 0.0002"]);
  const other = {
    ...outcome,
    gap: 0,
    expected: [
      { ...step, entropy: 2.01 },
      { ...step, kl: 0 },
    ],
  };
  expect(differences(other)).toEqual(["step 1: entropy is 2, not 2.01", "step 2: kl is NaN, not 0"]);
});
