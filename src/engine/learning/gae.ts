/** How far rewards reach back. */
export interface GaeSettings {
  /** Discount, in [0, 1]. */
  gamma: number;
  /** 1: the whole return. 0: only one step of it. */
  lambda: number;
  /** Whether both apply between action tokens or only between turns. */
  discount: "token" | "turn";
}

/** One number per action token, in order. */
export interface Advantages {
  advantages: Float32Array;
  /** The value head's targets: advantage + value. */
  returns: Float32Array;
}

/** The action tokens of one trajectory, in order. */
export interface Episode {
  /** The reward of each token. */
  rewards: Float64Array;
  /** The turn of each token, from 0. */
  turns: Int32Array;
}

/**
 * Generalized advantage estimation (arXiv 1506.02438) over the action tokens of one trajectory. `values` are those of
 * the action tokens only. The successor of an action token is the next action token, regardless of observations in
 * between.
 */
export function generalizedAdvantages(
  values: ArrayLike<number>,
  { rewards, turns }: Episode,
  { gamma, lambda, discount }: GaeSettings,
): Advantages {
  const count = values.length;
  const advantages = new Float32Array(count);
  const returns = new Float32Array(count);
  let advantage = 0;
  for (let at = count - 1; at >= 0; at--) {
    const counts = discount === "token" || turns[at] !== turns[at + 1];
    const kept = counts ? gamma : 1;
    const ahead = at === count - 1 ? 0 : kept * values[at + 1]!;
    const surprise = rewards[at]! + ahead - values[at]!;
    advantage = surprise + kept * (counts ? lambda : 1) * advantage;
    advantages[at] = advantage;
    returns[at] = advantage + values[at]!;
  }
  return { advantages, returns };
}

/**
 * Generalized advantage estimation with a turn as the action (Turn-PPO, arXiv 2512.17008). A turn's value is that of
 * its first token. All its tokens share its advantage and its return. Discounts apply between turns.
 */
export function turnAdvantages(
  values: ArrayLike<number>,
  { rewards, turns }: Episode,
  settings: Pick<GaeSettings, "gamma" | "lambda">,
): Advantages {
  const starts = [...turns.keys()].filter((at) => at === 0 || turns[at] !== turns[at - 1]);
  const ofTurns = {
    rewards: Float64Array.from(starts, (start, turn) =>
      rewards.subarray(start, starts[turn + 1]).reduce((sum, reward) => sum + reward, 0),
    ),
    turns: Int32Array.from(starts.keys()),
  };
  const turnValues = starts.map((start) => values[start]!);
  const estimate = generalizedAdvantages(turnValues, ofTurns, { ...settings, discount: "turn" });
  const spread = (numbers: Float32Array) => Float32Array.from(turns, (turn) => numbers[turn]!);
  return { advantages: spread(estimate.advantages), returns: spread(estimate.returns) };
}
