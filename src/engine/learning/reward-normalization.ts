import { defined } from "../../base/records/defined.ts";
import type { Experienced } from "./token-rewards.ts";

/** How rewards are normalized before any other use. */
export interface RewardSettings {
  /**
   * `scale`: divides by the standard deviation of all rewards so far. `standardize`: subtracts their mean first.
   * Default: `none`.
   */
  rewardNormalization?: "none" | "scale" | "standardize";
  /** The largest absolute value of a reward, after normalization. Default: no limit. */
  rewardClip?: number;
}

/** Statistics of all numbers so far. */
export interface RunningMoments {
  count: number;
  mean: number;
  /** The sum of their squared distances from the mean. */
  squares: number;
}

/** Adds numbers to the moments with the parallel algorithm of Chan, Golub and LeVeque (1979). */
export function withNumbers(before: RunningMoments | undefined, numbers: readonly number[]): RunningMoments {
  const { count, mean, squares } = before ?? { count: 0, mean: 0, squares: 0 };
  if (numbers.length === 0) return { count, mean, squares };
  const own = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const ownSquares = numbers.reduce((sum, one) => sum + (one - own) ** 2, 0);
  const total = count + numbers.length;
  return {
    count: total,
    mean: mean + ((own - mean) * numbers.length) / total,
    squares: squares + ownSquares + ((own - mean) ** 2 * count * numbers.length) / total,
  };
}

/** Returns the divisor of rewards: the standard deviation (n − 1) of all so far; 1 if they are all equal. */
export function rewardScale({ count, squares }: RunningMoments): number {
  const deviation = Math.sqrt(squares / Math.max(1, count - 1));
  return deviation < 1e-8 ? 1 : deviation; // equal numbers differ only by rounding
}

/**
 * Returns a trajectory with its reward normalized by the moments, then clipped. The rewards of turns are divided
 * likewise. Subtraction and clipping affect the rest, which comes with the last action token.
 */
export function withNormalizedReward(
  trajectory: Experienced,
  { rewardNormalization = "none", rewardClip = Number.POSITIVE_INFINITY }: RewardSettings,
  moments: RunningMoments,
): Experienced {
  const { reward, turnRewards } = trajectory;
  const scale = rewardNormalization === "none" ? 1 : rewardScale(moments);
  const mean = rewardNormalization === "standardize" ? moments.mean : 0;
  const normalized = (reward - mean) / scale;
  return defined({
    ...trajectory,
    reward: Math.max(-rewardClip, Math.min(rewardClip, normalized)),
    turnRewards: turnRewards?.map((one) => one / scale),
  });
}
