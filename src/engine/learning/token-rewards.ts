import { defined } from "../../base/records/defined.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";
import type { TokenSequence } from "./batch.ts";

/** A finished trajectory as the trainer receives it. */
export interface Experienced extends TokenSequence {
  /**
   * Recorded while sampling, one per token: under the sampling policy, at its temperature, over the whole vocabulary.
   */
  readonly logprobs: readonly number[];
  /**
   * Under the distribution that the tokens were drawn from, if top-p, a grammar or the like changed it. Default:
   * `logprobs`.
   */
  readonly samplingLogprobs?: readonly number[];
  /** The total reward. */
  readonly reward: number;
  /** The part of `reward` that each turn earned, such as a tool's reward. The rest comes with the last action token. */
  readonly turnRewards?: readonly number[];
  /** Trajectories of one task share a group. Default: a group of its own. */
  readonly group?: string;
  /** A limit of turns, tokens or time ended it. Default: false. */
  readonly truncated?: boolean;
  /** Lengths of its rows, which follow each other in its columns. Each is a separate sequence. Default: one row. */
  readonly rows?: readonly number[];
}

/** Soft penalty of trajectories near the maximum length (DAPO, arXiv 2503.14476, equation 13). */
export interface OverlongSettings {
  /** The most action tokens. */
  maximum: number;
  /** The number of tokens before the maximum over which the penalty grows from 0 to `penalty`. */
  buffer: number;
  penalty: number;
}

/** Returns the turn of each action token, from 0. A turn is a series of consecutive action tokens. */
export function turnsOf({ mask }: TokenSequence): Int32Array {
  let turn = -1;
  const turns = mask.flatMap((marked, at) => {
    if (marked !== 1) return [];
    if (mask[at - 1] !== 1) turn++;
    return [turn];
  });
  return Int32Array.from(turns);
}

/**
 * Returns the rewards of a trajectory's action tokens. Each turn's reward is at its last token, and the rest at the
 * very last one. They add up to its reward.
 */
export function tokenRewards({ reward, turnRewards = [] }: Experienced, turns: Int32Array): Float64Array {
  const rewards = new Float64Array(turns.length);
  let rest = reward;
  for (let at = 0; at < turns.length - 1; at++) {
    if (turns[at] === turns[at + 1]) continue;
    rewards[at] = turnRewards[turns[at]!] ?? 0;
    rest -= rewards[at]!;
  }
  if (rewards.length > 0) rewards[rewards.length - 1] = rest;
  return rewards;
}

/** Returns the addition to the reward of a trajectory with this many action tokens: 0 or less. */
export function overlongReward(actionTokens: number, { maximum, buffer, penalty }: OverlongSettings): number {
  const over = (actionTokens - (maximum - buffer)) / buffer;
  return -penalty * Math.max(0, Math.min(1, over));
}

/** Returns a trajectory's rows as sequences for a model. */
export function sequencesOf(trajectory: Experienced): TokenSequence[] {
  const { tokens, mask, rows, routerTies, embeddings } = trajectory;
  if (rows === undefined) return [trajectory];
  let end = 0;
  return rows.map((length) => {
    const start = end;
    end += length;
    return defined({
      tokens: tokens.slice(start, end),
      mask: mask.slice(start, end),
      routerTies: routerTies && tiesBetween(routerTies, start, end, -start),
      embeddings,
    });
  });
}
