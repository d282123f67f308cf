import {
  type Advantages,
  type Episode,
  type GaeSettings,
  generalizedAdvantages,
  turnAdvantages,
} from "./gae.ts";
import { groupAdvantages, leaveOneOutAdvantages, turnGroupAdvantages } from "./group-advantages.ts";
import { joined } from "./objective.ts";

/** How a trajectory's rewards become the advantages of its action tokens. */
export interface AdvantageSettings extends GaeSettings {
  /**
   * - `gae`: generalized advantage estimation with a value head (PPO).
   * - `group-mean`: the reward minus the mean of its group (GRPO, Dr. GRPO, DAPO, GSPO, REINFORCE++-baseline).
   * - `leave-one-out`: the reward minus the mean of the others in its group (RLOO).
   * - `return`: the discounted sum of rewards from the token on (REINFORCE++, arXiv 2501.03262).
   */
  advantages: "gae" | "group-mean" | "leave-one-out" | "return";
  /**
   * The divisor of advantages: none, the standard deviation of the group's rewards, or (whitened) that of all tokens in
   * the batch.
   */
  normalization: "none" | "group" | "batch";
  /**
   * The unit that a reward is credited to: each token (gae, return), each turn (gae with a turn as the action;
   * group-mean with rewards compared by turn), or the whole trajectory (group-mean, leave-one-out).
   */
  credit: "token" | "turn" | "trajectory";
}

/** An episode with the inputs of its estimator. */
export interface ScoredEpisode extends Episode {
  group: string;
  /** From the value head, for gae. */
  values?: Float32Array;
}

/**
 * Returns the advantages of each episode's action tokens, and with gae also the returns, which are the targets of a
 * value head.
 */
export function estimateAdvantages(
  episodes: readonly ScoredEpisode[],
  settings: AdvantageSettings,
): { advantages: Float32Array; returns?: Float32Array }[] {
  const estimates = rawAdvantages(episodes, settings);
  if (settings.normalization !== "batch") return estimates;
  const whitened = whiten(joined(estimates.map(({ advantages }) => advantages)));
  let start = 0;
  return estimates.map((estimate) => {
    const advantages = whitened.subarray(start, start + estimate.advantages.length);
    start += advantages.length;
    return { ...estimate, advantages };
  });
}

function rawAdvantages(
  episodes: readonly ScoredEpisode[],
  settings: AdvantageSettings,
): (Pick<Advantages, "advantages"> & Partial<Advantages>)[] {
  const { advantages: estimator, credit } = settings;
  if (estimator === "gae") {
    const estimate = credit === "turn" ? turnAdvantages : generalizedAdvantages;
    return episodes.map((episode) => estimate(episode.values!, episode, settings));
  }
  if (estimator === "return") {
    const zeros = { gamma: settings.gamma, lambda: 1, discount: settings.discount };
    return episodes.map((episode) => {
      const { returns } = generalizedAdvantages(new Float32Array(episode.turns.length), episode, zeros);
      return { advantages: returns };
    });
  }
  const groups = episodes.map(({ group }) => group);
  const scale = settings.normalization === "group";
  if (credit === "turn") {
    return turnGroupAdvantages(episodes, groups, scale).map((advantages) => ({ advantages }));
  }
  const rewards = episodes.map((episode) => episode.rewards.reduce((sum, reward) => sum + reward, 0));
  const whole =
    estimator === "group-mean"
      ? groupAdvantages(rewards, groups, scale)
      : leaveOneOutAdvantages(rewards, groups);
  return episodes.map(({ turns }, index) => ({
    advantages: new Float32Array(turns.length).fill(whole[index]!),
  }));
}

/**
 * Shifts numbers to mean 0 and scales them to standard deviation 1 (of a sample, n − 1). Equal numbers and single ones
 * become 0.
 */
export function whiten(numbers: Float32Array): Float32Array {
  const count = numbers.length;
  const mean = numbers.reduce((sum, value) => sum + value, 0) / count;
  const squares = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const scale = 1 / Math.sqrt(squares / Math.max(1, count - 1) + 1e-8);
  return numbers.map((value) => (value - mean) * scale);
}
