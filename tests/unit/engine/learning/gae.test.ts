import { expect, test } from "vitest";
import { type Episode, generalizedAdvantages, turnAdvantages } from "../../../../src/engine/learning/gae.ts";

/** The definition itself: Σ of surprises ahead, each times the product of γ λ on the way. */
function byDefinition(
  estimates: number[],
  { rewards, turns }: Episode,
  gamma: number,
  lambda: number,
  byTurn: boolean,
) {
  const discounts = estimates.map((_, at) => !byTurn || turns[at] !== turns[at + 1]);
  const kept = discounts.map((counts) => (counts ? gamma : 1));
  const surprises = estimates.map((value, at) => rewards[at]! + kept[at]! * (estimates[at + 1] ?? 0) - value);
  return estimates.map((_, from) => {
    let weight = 1;
    return surprises.slice(from).reduce((sum, surprise, ahead) => {
      const term = weight * surprise;
      weight *= kept[from + ahead]! * (discounts[from + ahead] ? lambda : 1);
      return sum + term;
    }, 0);
  });
}

const values = [0.3, -0.2, 0.8, 0.1, 0.5];
const episode: Episode = { rewards: Float64Array.of(0, 0.5, 0, 0, 1), turns: Int32Array.of(0, 0, 1, 1, 2) };

test.each([
  [1, 1, "token"],
  [1, 0.95, "token"],
  [0.97, 0.9, "token"],
  [0.9, 0, "token"],
  [0.9, 0.8, "turn"],
] as const)(
  "advantages with gamma %d and lambda %d by %s are those of the definition",
  (gamma, lambda, discount) => {
    const { advantages, returns } = generalizedAdvantages(values, episode, { gamma, lambda, discount });
    byDefinition(values, episode, gamma, lambda, discount === "turn").forEach((expected, at) => {
      expect(advantages[at]).toBeCloseTo(expected, 5);
      expect(returns[at]).toBeCloseTo(expected + values[at]!, 5);
    });
  },
);

test("with gamma and lambda 1 every action token is told the rewards from it on", () => {
  const settings = { gamma: 1, lambda: 1, discount: "token" } as const;
  const { returns } = generalizedAdvantages(values, episode, settings);
  [1.5, 1.5, 1, 1, 1].forEach((expected, at) => {
    expect(returns[at]).toBeCloseTo(expected, 6);
  });
});

test("with a turn as the action, its tokens share its advantage and its return", () => {
  const gamma = 0.9;
  const lambda = 0.8;
  const { advantages, returns } = turnAdvantages(values, episode, { gamma, lambda });
  const turns = { rewards: Float64Array.of(0.5, 0, 1), turns: Int32Array.of(0, 1, 2) };
  const expected = byDefinition([0.3, 0.8, 0.5], turns, gamma, lambda, false);
  [0, 0, 1, 1, 2].forEach((turn, at) => {
    expect(advantages[at]).toBeCloseTo(expected[turn]!, 5);
    expect(returns[at]).toBeCloseTo(expected[turn]! + [0.3, 0.8, 0.5][turn]!, 5);
  });
});
