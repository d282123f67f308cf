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
  { messages, given = new Set(), sampled }: DemonstratedChat,
  tools: ToolDefinition[],
): MaskedTokens {
  if (sampled !== undefined) return { tokens: sampled.tokens, mask: sampled.mask };
  const framed = policy.frameDemonstration(messages, tools);
  if (given.size === 0) return framed;
  const { mask } = framed;
  const isGiven = messages.flatMap(({ role }, index) => (role === "assistant" ? [given.has(index)] : []));
  let action = 0;
  return {
    ...framed,
    mask: mask.map((marked, at) => {
      if (marked === 0) return 0;
      const learned = isGiven[action] ? 0 : 1;
      if (mask[at + 1] !== 1) action++; // the action's last token
      return learned;
    }),
  };
}
