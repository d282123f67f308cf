import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { placeOfRow } from "../read/row-problems.ts";

/**
 * Finds demonstrated actions of more than `limit` tokens. In a rollout, the policy could never finish writing
 * them.
 */
export function demonstratedActions(limit: number): {
  /** Takes a demonstration with its mask, which is 1 where the policy writes the token. */
  see(row: DemonstratedChat, mask: readonly number[]): void;
  problems(): Problem[];
} {
  const seen = { rows: 0, tooLong: new Map<DemonstratedChat, number>() };
  return {
    see(row, mask) {
      seen.rows++;
      const longest = longestAction(mask);
      if (longest > limit) seen.tooLong.set(row, longest);
    },
    problems() {
      const [first] = seen.tooLong.keys();
      if (first === undefined) return [];
      const place = placeOfRow(first, "warmStart.demonstrations");
      const params = {
        at: place.text,
        rows: seen.tooLong.size,
        counted: seen.rows,
        limit,
        longest: Math.max(...seen.tooLong.values()),
      };
      return [{ place, error: new EverturnError("DEMONSTRATED_ACTION_TOO_LONG", params) }];
    },
  };
}

/** The number of tokens in the longest stretch that the policy writes. */
export function longestAction(mask: readonly number[]): number {
  let [longest, now] = [0, 0];
  for (const isAction of mask) {
    now = isAction === 1 ? now + 1 : 0;
    longest = Math.max(longest, now);
  }
  return longest;
}
