import { expect, test } from "vitest";
import { generalizedAdvantages, whiten } from "../../../src/learning/gae.ts";

/** The definition itself: Σ (γλ)^(j − i) δ_j. */
function byDefinition(values: number[], reward: number, gamma: number, lambda: number): number[] {
  const surprises = values.map((value, at) => {
    const earned = at === values.length - 1 ? reward : 0;
    return earned + gamma * (values[at + 1] ?? 0) - value;
  });
  return values.map((_, from) =>
    surprises.slice(from).reduce((sum, surprise, ahead) => sum + (gamma * lambda) ** ahead * surprise, 0),
  );
}

test.each([
  [1, 1],
  [1, 0.95],
  [0.97, 0.9],
  [0.9, 0],
])("advantages with gamma %d and lambda %d are those of the definition", (gamma, lambda) => {
  const values = [0.3, -0.2, 0.8, 0.1, 0.5];
  const { advantages, returns } = generalizedAdvantages(values, 1, { gamma, lambda });
  byDefinition(values, 1, gamma, lambda).forEach((expected, at) => {
    expect(advantages[at]).toBeCloseTo(expected, 5);
    expect(returns[at]).toBeCloseTo(expected + values[at]!, 5);
  });
});

test("with gamma and lambda 1 every action token is told the final reward", () => {
  const { returns } = generalizedAdvantages([0.3, 0.7, -1], 2, { gamma: 1, lambda: 1 });
  for (const value of returns) expect(value).toBeCloseTo(2, 6);
});

test("whitened numbers have mean 0 and deviation 1; equal ones become 0", () => {
  const numbers = whiten(Float32Array.of(1, 5, 2, 8, 4));
  const mean = numbers.reduce((sum, value) => sum + value, 0) / 5;
  expect(mean).toBeCloseTo(0, 6);
  expect(numbers.reduce((sum, value) => sum + value ** 2, 0) / 4).toBeCloseTo(1, 5);
  expect([...whiten(Float32Array.of(3, 3, 3))]).toEqual([0, 0, 0]);
  expect([...whiten(Float32Array.of(3))]).toEqual([0]);
});
