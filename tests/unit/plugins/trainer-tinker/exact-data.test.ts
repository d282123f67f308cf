import { expect, test } from "vitest";
import {
  type ClippedTokens,
  callsByImportanceSampling,
  callsByWeights,
  clippedCalls,
  type ExactPasses,
  exactCalls,
  type PredictedTokens,
} from "../../../../plugins/trainer-tinker/exact-data.ts";
import { profiles, type Reduction } from "../../../../plugins/trainer-tinker/profiles.ts";
import { derivativesOf } from "../../../support/tinker-arithmetic.ts";

/** Sequences whose gradients have mixed signs, a sum of exactly 0, a negative sum, and none at all. */
const sequences = [[0, 0.25, -0.5, 0.125], [0, 1, -1], [0, 0, -1.75, -0.5, -0.001], [0, 0], [0.5]].map(
  (gradients): PredictedTokens => ({
    inputs: gradients.map((_, at) => at),
    targets: gradients.map((_, at) => at + 1),
    logProbabilities: Float32Array.from(gradients, (_, at) => -0.3 - at),
    gradients: Float32Array.from(gradients),
  }),
);
const partsOf = [[sequences], [sequences.slice(0, 2), sequences.slice(2)], sequences.map((one) => [one])];

/** The gradient that a server applies for an update's calls, at the log-probabilities of the forward pass. */
function applied(
  reduction: Reduction,
  { loss, calls }: ExactPasses,
  parts: readonly (readonly PredictedTokens[])[],
): number[][] {
  const count = parts.flat().length;
  return calls.flatMap((call, index) => {
    const received = call.map(({ columns }, at) => ({
      columns,
      logProbabilities: parts[index]![at]!.logProbabilities,
    }));
    const derivatives = derivativesOf(reduction, loss, received);
    const divisor = reduction === "sequence-mean" ? count : 1;
    return derivatives.map((values) => [...values].map((value) => value / divisor));
  });
}

function largestDifference(gradients: readonly (readonly number[])[]): number {
  const gaps = gradients.flatMap((values, index) =>
    values.map((value, at) => Math.abs(value - sequences[index]!.gradients[at]!)),
  );
  return Math.max(...gaps);
}

for (const [name, { crossEntropy, way }] of Object.entries(profiles)) {
  if (way === undefined || way === "custom-steps") continue;
  test.each(partsOf.map((parts) => [parts.length, parts] as const))(
    `${name} applies exactly the gradient it should, in %i calls`,
    (_, parts) => {
      const gradients = applied(crossEntropy, exactCalls(way, parts), parts);
      expect(gradients.map(({ length }) => length)).toEqual(sequences.map(({ targets }) => targets.length));
      expect(largestDifference(gradients)).toBeLessThan(1e-6);
    },
  );
}

test("the other way is wrong wherever a profile avoids it", () => {
  const [, parts] = partsOf;
  const byWeights = callsByWeights(parts!);
  expect(largestDifference(applied("sequence-mean", byWeights, parts!)), "a sum of 0").toBeGreaterThan(1e7);
  expect(largestDifference(applied("call-mean", byWeights, parts!))).toBeGreaterThan(1e-3);
  expect(largestDifference(applied("unweighted", byWeights, parts!))).toBeGreaterThan(0.1);
  const bySampling = callsByImportanceSampling(parts!);
  expect(largestDifference(applied("sum", bySampling, parts!))).toBeGreaterThan(1);
});

test("advantages are scaled by all sequences of the update, not by those of their call", () => {
  const whole = callsByImportanceSampling([sequences]).calls.flat();
  const split = callsByImportanceSampling(sequences.map((one) => [one])).calls.flat();
  expect(split).toEqual(whole);
});

test.each(["sum", "sequence-mean"] as const)(
  "the clipped loss of a server that takes the %s has the gradient of ours",
  (reduction) => {
    const ratios = [0.5, 0.9, 1, 1.1, 1.5];
    const clipped = sequences.map(({ inputs, targets, logProbabilities, gradients }): ClippedTokens => {
      return {
        inputs,
        targets,
        oldLogProbabilities: logProbabilities.map((value, at) => value - Math.log(ratios[at % 5]!)),
        advantages: gradients.map((value, at) => (at === 0 ? 0 : value)),
      };
    });
    const parts = [clipped.slice(0, 2), clipped.slice(2)];
    const config = { clip_low_threshold: 0.8, clip_high_threshold: 1.3 };
    const derivatives = clippedCalls(reduction, parts).flatMap((call, part) => {
      const start = part === 0 ? 0 : 2;
      const received = call.map(({ columns }, index) => {
        return { columns, logProbabilities: sequences[start + index]!.logProbabilities };
      });
      return derivativesOf(reduction, "ppo", received, config);
    });
    const divisor = reduction === "sum" ? 1 : sequences.length;
    derivatives.forEach((values, index) => {
      const { advantages } = clipped[index]!;
      const expected = Array.from(advantages, (advantage, at) => {
        const ratio = ratios[at % 5]!;
        const isClipped = advantage > 0 ? ratio > 1.3 : ratio < 0.8;
        return isClipped ? 0 : -ratio * advantage;
      });
      for (const [at, value] of values.entries()) expect(value / divisor).toBeCloseTo(expected[at]!, 5);
    });
  },
);

test("Twinkle has a reason, and every other server a way", () => {
  const refused = Object.entries(profiles).filter(([, { way }]) => way === undefined);
  expect(refused.map(([name]) => name)).toEqual(["twinkle"]);
  for (const [name, { way, refusal }] of Object.entries(profiles)) {
    expect(refusal === undefined, name).toBe(way !== undefined);
  }
});
