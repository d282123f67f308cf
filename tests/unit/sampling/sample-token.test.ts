import { expect, test } from "vitest";
import { createUniformStream } from "../../../src/random/uniform-stream.ts";
import { sampleToken, type TokenSampling } from "../../../src/sampling/sample-token.ts";

const probabilities = [0.05, 0.4, 0.1, 0.25, 0.2];
const logits = Float32Array.from(probabilities, (probability) => Math.log(probability) + 3);
const uniform = createUniformStream({ seed: 5, trajectory: "t", turn: 0 });

function frequencies(sampling: TokenSampling, draws = 20_000): number[] {
  const counts = probabilities.map(() => 0);
  for (let i = 0; i < draws; i++) counts[sampleToken(logits, sampling, uniform(i)).token]! += 1 / draws;
  return counts;
}

function expectFrequencies(sampling: TokenSampling, expected: number[]): void {
  frequencies(sampling).forEach((frequency, token) => {
    expect(Math.abs(frequency - expected[token]!)).toBeLessThan(expected[token] === 0 ? 1e-12 : 0.012);
  });
}

test("draws tokens as often as the softmax says", () => {
  expectFrequencies({ temperature: 1 }, probabilities);
});

test("temperature sharpens, and 0 takes the likeliest", () => {
  const squares = probabilities.map((probability) => probability ** 2);
  const total = squares.reduce((sum, square) => sum + square, 0);
  expectFrequencies(
    { temperature: 0.5 },
    squares.map((square) => square / total),
  );
  expectFrequencies({ temperature: 0 }, [0, 1, 0, 0, 0]);
});

test("top-k and top-p keep the likeliest, top-p of what top-k left", () => {
  expectFrequencies({ temperature: 1, topK: 2 }, [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]);
  expectFrequencies({ temperature: 1, topP: 0.7 }, [0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85]);
  expectFrequencies({ temperature: 1, topK: 2, topP: 0.6 }, [0, 1, 0, 0, 0]);
  expectFrequencies({ temperature: 1, topK: 1 }, [0, 1, 0, 0, 0]);
});

test("the log-probability is that of the untouched logits, whatever the sampling", () => {
  for (const sampling of [{ temperature: 0 }, { temperature: 0.3, topK: 2 }, { temperature: 1 }]) {
    for (let i = 0; i < 20; i++) {
      const { token, logprob } = sampleToken(logits, sampling, uniform(i));
      expect(logprob).toBeCloseTo(Math.log(probabilities[token]!), 6);
    }
  }
});

test("the ends of the interval draw a possible token", () => {
  const impossible = Float32Array.of(Number.NEGATIVE_INFINITY, 0, 0, Number.NEGATIVE_INFINITY);
  expect(sampleToken(impossible, { temperature: 1 }, 0).token).toBe(1);
  expect(sampleToken(impossible, { temperature: 1 }, 1 - 2 ** -53).token).toBe(2);
});

test("refuses logits that are no numbers", () => {
  expect(() => sampleToken(Float32Array.of(0, Number.NaN), { temperature: 1 }, 0.5)).toThrow("not finite");
});
