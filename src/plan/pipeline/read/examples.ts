import type { ToolDefinition } from "../../../contracts/message.ts";
import type { MaskedTokens, PolicyFraming } from "../../../contracts/policy.ts";
import type { DemonstratedChat } from "./demonstrated-chat.ts";
import { readDemonstrations } from "./demonstrations.ts";
import { readPreferences } from "./preferences.ts";
import type { RowTools } from "./row-tools.ts";

/** The examples that a run's steps train on instead of trajectories. */
export interface Examples {
  /** Demonstrations, or the chosen answers of pairs. */
  learned: DemonstratedChat[];
  /** The rejected answers of pairs, in the same order. Empty for demonstrations. */
  rejected: DemonstratedChat[];
}

/** Reads a plan's examples. Returns none if it trains on trajectories. Throws WRONG_CONFIGURATION. */
export async function readExamples(
  {
    sft,
    dpo,
  }: {
    sft?: { demonstrations: string };
    dpo?: { preferences: string };
  },
  rowTools: RowTools,
): Promise<Examples> {
  if (dpo === undefined) {
    const learned = sft === undefined ? [] : await readDemonstrations(sft.demonstrations, rowTools);
    return { learned, rejected: [] };
  }
  const pairs = await readPreferences(dpo.preferences, rowTools);
  return { learned: pairs.map(({ chosen }) => chosen), rejected: pairs.map(({ rejected }) => rejected) };
}

/**
 * Returns a chat's tokens. The given messages carry no loss. Throws the same errors as `frameDemonstration`.
 */
export function frameChat(
  policy: Pick<PolicyFraming, "frameDemonstration">,
  { messages, given = 0 }: DemonstratedChat,
  tools: ToolDefinition[],
): MaskedTokens {
  const { tokens, mask } = policy.frameDemonstration(messages, tools);
  let actions = messages.slice(0, given).filter(({ role }) => role === "assistant").length;
  if (actions === 0) return { tokens, mask };
  return {
    tokens,
    mask: mask.map((marked, at) => {
      if (marked === 0 || actions === 0) return marked;
      if (mask[at + 1] !== 1) actions--; // the last token of a given action
      return 0;
    }),
  };
}
