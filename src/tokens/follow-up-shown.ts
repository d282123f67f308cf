import { EverturnError } from "../errors/everturn-error.ts";
import type { ChatTemplate, ShownMessage } from "./chat-template.ts";
import { type ControlTokens, type FollowUp, followUp } from "./follow-up.ts";
import { shownCalls, shownText, type WayOfCalling, waysOfCalling } from "./ways-of-calling.ts";

/** What a template writes after an action when `messages` follow, and how it had to be shown what tools answered. */
export interface ShownFollowUp extends FollowUp {
  calling?: WayOfCalling;
}

/**
 * What a chat template writes after an action when `messages` follow, in the first way of showing it calls in which it writes all of them. `earlier` calls were made before it. Undefined if it does in none; throws the template's own refusal where each way was refused.
 */
export function shownFollowUp(
  render: ChatTemplate,
  control: ControlTokens,
  messages: readonly ShownMessage[],
  earlier = 0,
): ShownFollowUp | undefined {
  const isAnswered = messages[0]?.role === "tool";
  const shown = isAnswered
    ? waysOfCalling.map((calling) => ({ calling, ...shownCalls(messages, calling, earlier) }))
    : shownText(messages);
  const contents = messages.map(({ content }) => content.trim());
  let refusal: unknown;
  for (const { chat, next, tools, ...way } of shown) {
    try {
      const found = followUp(render, control, chat, next, tools);
      if (found !== undefined && (!isAnswered || inOrder(found.text, contents))) return { ...found, ...way };
    } catch (error) {
      if (!(error instanceof EverturnError)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  return undefined;
}

/** Whether the parts stand in `text` one after another. JSON writes some characters in its own way: those are not looked for. */
function inOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const [known = ""] = part.split(/["\\\p{Cc}\u2028\u2029]/u, 1);
    const at = text.indexOf(known, from);
    from = at + known.length;
    return at >= 0;
  });
}
