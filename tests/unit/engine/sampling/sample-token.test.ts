import { expect, test } from "vitest";
import { createUniformStream } from "../../../../src/base/random/uniform-stream.ts";
import type { Restrictions } from "../../../../src/engine/sampling/restrictions.ts";
import {
  type NextToken,
  sampleToken,
  type TokenSampling,
} from "../../../../src/engine/sampling/sample-token.ts";
import { chiSquared } from "./chi-squared.ts";

const probabilities = [0.05, 0.4, 0.1, 0.25, 0.2];
const logits = Float32Array.from(probabilities, (probability) => Math.log(probability) + 3);
const uniform = createUniformStream({ seed: 5, trajectory: "t", turn: 0 });

/** What the decoding graph says of logits. */
function nextToken(values: Float32Array, temperature: number): NextToken {
  const largest = Math.max(...values);
  return {
    choice: () => ({
      token: values.indexOf(largest),
      probability: 1 / values.reduce((total, logit) => total + Math.exp(logit - largest), 0),
    }),
    weights: () => values.map((logit) => Math.exp((logit - largest) / (temperature || 1))),
    logits: () => values,
  };
}

function counts(
  values: Float32Array,
  sampling: TokenSampling,
  restrictions?: Restrictions,
  draws = 5000,
): number[] {
  const found = Array.from(values, () => 0);
  const next = nextToken(values, sampling.temperature);
  for (let i = 0; i < draws; i++) {
    found[sampleToken(next, sampling, () => uniform(i), restrictions).token]!++;
  }
  return found;
}

/** Draws pass a chi-squared test, and what should never come never comes. */
function expectDistribution(sampling: TokenSampling, weights: number[], restrictions?: Restrictions): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const expected = weights.map((weight) => weight / total);
  const found = counts(logits, sampling, restrictions);
  expected.forEach((probability, token) => {
    if (probability === 0) expect(found[token]).toBe(0);
  });
  if (expected.some((probability) => probability === 1)) return;
  const { statistic, limit } = chiSquared(found, expected);
  expect(statistic).toBeLessThan(limit);
}

test("draws tokens as often as the softmax says", () => {
  expectDistribution({ temperature: 1 }, probabilities);
});

test("temperature sharpens, and 0 takes the likeliest", () => {
  expectDistribution(
    { temperature: 0.5 },
    probabilities.map((probability) => probability ** 2),
  );
  expectDistribution({ temperature: 0 }, [0, 1, 0, 0, 0]);
});

test("top-k, top-p and min-p keep the likeliest, top-p of what top-k left", () => {
  expectDistribution({ temperature: 1, topK: 2 }, [0, 0.4, 0, 0.25, 0]);
  expectDistribution({ temperature: 1, topP: 0.7 }, [0, 0.4, 0, 0.25, 0.2]);
  expectDistribution({ temperature: 1, topK: 2, topP: 0.6 }, [0, 1, 0, 0, 0]);
  expectDistribution({ temperature: 1, topK: 1 }, [0, 1, 0, 0, 0]);
  expectDistribution({ temperature: 1, minP: 0.5 }, [0, 0.4, 0, 0.25, 0.2]);
  expectDistribution({ temperature: 1, minP: 0.5, topP: 0.65 }, [0, 0.4, 0, 0.25, 0]);
  expectDistribution({ temperature: 2, minP: 0.9 }, [0, 1, 0, 0, 0]);
  expectDistribution({ temperature: 1, minP: 0.9, topK: 4 }, [0, 1, 0, 0, 0]);
});

test("a repetition penalty makes what was seen less likely, whatever its sign", () => {
  const values = Float32Array.of(2, -1, 1, 0.5);
  const sampling = { temperature: 1, repetitionPenalty: 2 };
  const penalized = [1, -2, 1, 0.5].map(Math.exp);
  const total = penalized.reduce((sum, weight) => sum + weight, 0);
  const restrictions = { seen: new Set([0, 1]) };
  const { statistic, limit } = chiSquared(
    counts(values, sampling, restrictions),
    penalized.map((weight) => weight / total),
  );
  expect(statistic).toBeLessThan(limit);
  const greedy = { temperature: 0, repetitionPenalty: 4 };
  expect(sampleToken(nextToken(values, 0), greedy, () => 0, restrictions).token).toBe(2);
});

test("a grammar's tokens are the only ones drawn, from what is left of the distribution", () => {
  const restrictions = { seen: new Set<number>(), allowed: Int32Array.of(0b10101) };
  expectDistribution({ temperature: 1 }, [0.05, 0, 0.1, 0, 0.2], restrictions);
  const greedy = sampleToken(nextToken(logits, 0), { temperature: 0 }, () => 0, restrictions);
  expect(greedy).toMatchObject({ token: 4, samplingLogprob: 0 });
  expect(greedy.logprob).toBeCloseTo(Math.log(0.2), 5);
});

test("the log-probability is that of the untouched logits; the sampling's own is that of the draw", () => {
  for (const sampling of [{ temperature: 0 }, { temperature: 0.3, topK: 2 }, { temperature: 1 }]) {
    const next = nextToken(logits, sampling.temperature);
    for (let i = 0; i < 20; i++) {
      const { token, logprob } = sampleToken(next, sampling, () => uniform(i));
      expect(logprob).toBeCloseTo(Math.log(probabilities[token]!), 6);
    }
  }
  const shaped = sampleToken(nextToken(logits, 1), { temperature: 1, topK: 2 }, () => 0);
  expect(shaped.samplingLogprob).toBeCloseTo(Math.log(0.4 / 0.65), 6);
});

test("the tempered log-probability is that of the whole vocabulary, whatever restricts the draw", () => {
  const restrictions = { seen: new Set([1]), allowed: Int32Array.of(0b10111) };
  const cases: [TokenSampling, Restrictions?][] = [
    [{ temperature: 0.5 }],
    [{ temperature: 0.5, topK: 2 }],
    [{ temperature: 2, topP: 0.6, repetitionPenalty: 1.5 }, restrictions],
  ];
  for (const [sampling, restricted] of cases) {
    const powers = probabilities.map((probability) => probability ** (1 / sampling.temperature));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const next = nextToken(logits, sampling.temperature);
    const { token, temperedLogprob } = sampleToken(next, sampling, () => 0.3, restricted);
    expect(temperedLogprob).toBeCloseTo(Math.log(powers[token]! / total), 6);
  }
  const forced = sampleToken(nextToken(Float32Array.of(0, -150), 0.5), { temperature: 0.5 }, () => 0, {
    seen: new Set(),
    allowed: Int32Array.of(0b10),
  });
  expect(forced).toMatchObject({ token: 1, temperedLogprob: -300, samplingLogprob: 0 });
  for (const temperature of [0, 1]) {
    const drawn = sampleToken(nextToken(logits, temperature), { temperature, topK: 2 }, () => 0);
    expect(drawn.temperedLogprob).toBe(drawn.logprob);
  }
});

test("the ends of the interval draw a possible token", () => {
  const impossible = Float32Array.of(Number.NEGATIVE_INFINITY, 0, 0, Number.NEGATIVE_INFINITY);
  const next = nextToken(impossible, 1);
  expect(sampleToken(next, { temperature: 1 }, () => 0).token).toBe(1);
  expect(sampleToken(next, { temperature: 1 }, () => 1 - 2 ** -53).token).toBe(2);
});

test("refuses logits that are no numbers", () => {
  const next = nextToken(Float32Array.of(0, Number.NaN), 1);
  expect(() => sampleToken(next, { temperature: 1 }, () => 0.5)).toThrow("not finite");
});
