import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";

/** A token of a trajectory. */
export interface TokenRow {
  position: number;
  origin: Segment["origin"];
  token: number;
  /** Its text; absent if the run has no readable tokenizer. */
  text?: string;
  /** 1 if the policy sampled it. */
  mask: 0 | 1;
  /** In nats, for sampled tokens. */
  logprob?: number;
}

/** Every token of a trajectory's segments, in order. */
export function tokenRows(segments: readonly Segment[], textOf?: (token: number) => string): TokenRow[] {
  const rows: TokenRow[] = [];
  for (const { origin, tokens, logprobs } of segments) {
    tokens.forEach((token, index) => {
      const logprob = logprobs?.[index];
      rows.push(
        defined({
          position: rows.length,
          origin,
          token,
          mask: origin === "action" ? 1 : 0,
          text: textOf?.(token),
          logprob,
        }),
      );
    });
  }
  return rows;
}
