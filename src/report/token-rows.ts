import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Segment } from "../contracts/generated/segment.ts";
import { isEverturnError } from "../errors/everturn-error.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { loadTokenizer } from "../tokens/tokenizer.ts";

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
      rows.push({
        position: rows.length,
        origin,
        token,
        mask: origin === "action" ? 1 : 0,
        ...(textOf === undefined ? {} : { text: textOf(token) }),
        ...(logprob === undefined ? {} : { logprob }),
      });
    });
  }
  return rows;
}

/** Decodes single tokens by the tokenizer of any policy version on disk; undefined if there is none to read. */
export async function tokenTexts(folder: RunFolder): Promise<((token: number) => string) | undefined> {
  const policies = dirname(folder.policy(0));
  const versions = (await readdir(policies).catch(() => [])).filter((name) => /^v\d+$/.test(name)).sort();
  for (const version of versions.reverse()) {
    try {
      const tokenizer = await loadTokenizer(join(policies, version));
      return (token) => tokenizer.decode([token]);
    } catch (error) {
      if (!isEverturnError(error)) throw error; // this version has none that can be read; an older one may
    }
  }
  return undefined;
}
