import { expect, test } from "vitest";
import { meanEstimate, shareEstimate } from "../../../../src/base/statistics/estimate.ts";
import { majorityShare, votedAnswer } from "../../../../src/base/statistics/majority.ts";
import { pairedDifference, signTest } from "../../../../src/base/statistics/paired.ts";
import { passAtK, toldAtK } from "../../../../src/base/statistics/pass-at-k.ts";
import { shareInterval } from "../../../../src/base/statistics/share-interval.ts";
import { studentQuantile, studentTails } from "../../../../src/base/statistics/student.ts";
import reference from "../../../fixtures/statistics.json" with { type: "json" };

test("intervals are those of statsmodels and SciPy", () => {
  for (const { solved, count, low, high } of reference.wilson) {
    const [ourLow, ourHigh] = shareInterval(solved / count, count);
    expect(ourLow, `${solved} of ${count}`).toBeCloseTo(low, 12);
    expect(ourHigh, `${solved} of ${count}`).toBeCloseTo(high, 12);
  }
  for (const { values, value, low, high } of reference.means) {
    const ours = meanEstimate(values);
    expect(ours.value).toBeCloseTo(value, 12);
    expect(ours.low).toBeCloseTo(low, 8);
    expect(ours.high).toBeCloseTo(high, 8);
  }
});

test("Student's t is SciPy's", () => {
  for (const [freedom, quantile] of reference.quantiles) {
    expect(studentQuantile(freedom ?? 0), `${freedom}`).toBeCloseTo(quantile ?? 0, 9);
  }
  for (const [t, freedom, p] of reference.tails) {
    expect(studentTails(t ?? 0, freedom ?? 0), `${t}, ${freedom}`).toBeCloseTo(p ?? 0, 11);
  }
});

test("paired tests are those of SciPy and statsmodels", () => {
  for (const { first, second, ...expected } of reference.paired) {
    const { test: name, ...ours } = pairedDifference(first, second);
    expect(name).toBe("paired-t");
    for (const key of ["value", "low", "high", "p"] as const)
      expect(ours[key], key).toBeCloseTo(expected[key], 8);
  }
  for (const { gained, lost, p } of reference.signs) {
    const ours = signTest(gained, lost);
    expect(Math.abs(ours - p) / p, `${gained}, ${lost}`).toBeLessThan(1e-9);
  }
  expect(pairedDifference([0, 0, 1, 0], [1, 1, 1, 0])).toMatchObject({ test: "mcnemar", value: 0.5 });
  expect(pairedDifference([0, 0, 1, 0], [1, 1, 1, 0]).p).toBeCloseTo(0.5, 12);
  expect(pairedDifference([0.5, 0.5], [0.5, 0.5]).p).toBe(1);
  expect(pairedDifference([0.5], [1]).p).toBe(1);
});

test("pass@k is the share of subsets with a solved sample", () => {
  for (const { samples, solved, k, value } of reference.passAtK) {
    expect(passAtK(samples, solved, k), `${solved} of ${samples}, ${k}`).toBeCloseTo(value, 12);
  }
  expect(toldAtK(1)).toEqual([1]);
  expect(toldAtK(6)).toEqual([1, 2, 4, 6]);
  expect(toldAtK(8)).toEqual([1, 2, 4, 8]);
});

test("the majority's answer counts, and ties share", () => {
  const vote = (answer: string | undefined, success: boolean) => ({ answer, success });
  expect(majorityShare([vote("12", true), vote(" 12\n", true), vote("13", false)], "12")).toBe(1);
  expect(majorityShare([vote("12", true), vote("13", false)], "12")).toBe(0.5);
  expect(majorityShare([vote("12", true), vote("13", false), vote("13", false)], "12")).toBe(0);
  expect(majorityShare([vote(undefined, false), vote(undefined, false), vote("12", true)], "12")).toBe(1);
  expect(majorityShare([vote(undefined, false)], "12")).toBe(0);
  expect(majorityShare([], "12")).toBe(0);
});

test.each([
  ["So it is \\boxed{1} or\n\\boxed{\\frac{1}{2}}, as said", "\\frac{1}{2}"],
  ["<answer> Paris </answer> <answer>Rome</answer>", "rome"],
  ["4 + 4 = 8\n#### 8", "8"],
  ["I add.\nAnswer:  12 ", "answer: 12"],
  ["\\boxed{1}, \\fbox{2}", "2"],
  ["#### Step 1\nIt is 3", "it is 3"],
  ["an open \\boxed{1", "an open \\boxed{1"],
  ["", ""],
])("of %j the answer that votes is %j", (text, answer) => {
  expect(votedAnswer(text, "2")).toBe(answer);
});

test("an estimate of shares is Wilson's where all are 0 or 1, else of the tasks' means, within 0 and 1", () => {
  expect(shareEstimate([1, 1, 1])).toMatchObject({ value: 1, high: 1 });
  expect(shareEstimate([1, 1, 1]).low).toBeCloseTo(shareInterval(1, 3)[0], 12);
  expect(shareEstimate([0.5, 1, 1])).toMatchObject({ high: 1 });
  expect(shareEstimate([0.5])).toEqual({ value: 0.5 });
  expect(meanEstimate([])).toEqual({ value: 0 });
});
