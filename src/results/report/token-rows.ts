import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import { loadTokenizer } from "../../engine/tokens/tokenizer.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { inPart } from "../../run/store/tree-part.ts";
import { policyPart } from "../../run/versions/version-parts.ts";

/** A token of a trajectory. */
export interface TokenRow {
  position: number;
  origin: Segment["origin"];
  token: number;
  /** Its text; absent where no tokenizer of the run can be read. */
  text?: string;
  /** 1 where the policy sampled it. */
  mask: 0 | 1;
  /** Nats, of sampled tokens. */
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

/** Decodes single tokens by the tokenizer of version 0, which is that of all; undefined if it can't be read. */
export async function tokenTexts({
  plan,
  store,
}: Pick<OpenRun, "plan" | "store">): Promise<((token: number) => string) | undefined> {
  try {
    const tokenizer = await inPart(store, policyPart(plan, 0), loadTokenizer);
    return (token) => tokenizer.decode([token]);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return undefined;
  }
}
