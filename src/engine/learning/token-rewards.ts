import { defined } from "../../base/records/defined.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";
import type { TokenSequence } from "./batch.ts";

/** A finished trajectory as the trainer sees it. */
export interface Experienced extends TokenSequence {
  /** As recorded while sampling, one a token: under the policy that sampled, at its temperature, over the whole vocabulary. */
  readonly logprobs: readonly number[];
  /** Under the distribution that the tokens were drawn from, where top-p, a grammar or the like made it another; default: `logprobs`. */
  readonly samplingLogprobs?: readonly number[];
  /** All that it earned. */
  readonly reward: number;
  /** The part of `reward` that each turn earned, such as a tool's reward; the rest comes with the last action token. */
  readonly turnRewards?: readonly number[];
  /** Trajectories of one task share a group; default: a group of its own. */
  readonly group?: string;
  /** A limit of turns, tokens or time ended it; default false. */
  readonly truncated?: boolean;
  /** Lengths of the rows that stand one after the other in its columns, each a sequence of its own; default: one row. */
  readonly rows?: readonly number[];
}

/** Soft punishment of trajectories that come near the longest one allowed (DAPO, arXiv 2503.14476, equation 13). */
export interface OverlongSettings {
  /** The most action tokens. */
  maximum: number;
  /** Over the last so many of them the punishment grows from 0 to `penalty`. */
  buffer: number;
  penalty: number;
}

/** The turn, from 0, of each action token: a turn is a run of action tokens. */
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
 * The rewards of a trajectory's action tokens: each turn's at its last one, the rest at the very last. They add up to
 * its reward.
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

/** What is added to the reward of a trajectory of so many action tokens: 0 or less. */
export function overlongReward(actionTokens: number, { maximum, buffer, penalty }: OverlongSettings): number {
  const over = (actionTokens - (maximum - buffer)) / buffer;
  return -penalty * Math.max(0, Math.min(1, over));
}

/** The sequences that a model sees of a trajectory: its rows. */
export function sequencesOf(trajectory: Experienced): TokenSequence[] {
  const { tokens, mask, rows, routerTies } = trajectory;
  if (rows === undefined) return [trajectory];
  let end = 0;
  return rows.map((length) => {
    const start = end;
    end += length;
    return defined({
      tokens: tokens.slice(start, end),
      mask: mask.slice(start, end),
      routerTies: routerTies && tiesBetween(routerTies, start, end, -start),
    });
  });
}
