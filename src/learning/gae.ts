/** How far rewards reach back: both per action token, in [0, 1]. */
export interface GaeSettings {
  /** Discount. */
  gamma: number;
  /** 1 is the whole return, 0 one step of it. */
  lambda: number;
}

/** One number an action token, in order. */
export interface Advantages {
  advantages: Float32Array;
  /** What the value head should have said: advantage + value. */
  returns: Float32Array;
}

/**
 * Generalised advantage estimation (arXiv 1506.02438) over the action tokens of one trajectory, whose reward
 * comes with its last action token. `values` holds those of the action tokens alone: what follows an action token
 * is the next action token, whatever was observed between them.
 */
export function generalizedAdvantages(
  values: ArrayLike<number>,
  reward: number,
  settings: GaeSettings,
): Advantages {
  const count = values.length;
  const advantages = new Float32Array(count);
  const returns = new Float32Array(count);
  let advantage = 0;
  for (let at = count - 1; at >= 0; at--) {
    const last = at === count - 1;
    const ahead = last ? reward : settings.gamma * values[at + 1]!;
    const surprise = ahead - values[at]!;
    advantage = surprise + settings.gamma * settings.lambda * advantage;
    advantages[at] = advantage;
    returns[at] = advantage + values[at]!;
  }
  return { advantages, returns };
}

/**
 * Numbers shifted to mean 0 and scaled to standard deviation 1 (of a sample, n − 1). Equal numbers become 0, and
 * so does a single one.
 */
export function whiten(numbers: Float32Array): Float32Array {
  const count = numbers.length;
  const mean = numbers.reduce((sum, value) => sum + value, 0) / count;
  const squares = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const scale = 1 / Math.sqrt(squares / Math.max(1, count - 1) + 1e-8);
  return numbers.map((value) => (value - mean) * scale);
}
