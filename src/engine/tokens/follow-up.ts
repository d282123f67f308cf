import type { ToolDefinition } from "../../contracts/message.ts";
import type { ChatTemplate, ShownMessage } from "./chat-template.ts";
import { anyOf } from "./control-text.ts";

/** Stands for an action while the text around it is cut from a rendered chat. */
export const placeholder = "EVERTURN_ACTION";

/** What a chat template writes after an action. */
export interface FollowUp {
  /** The token that the model ends such an action with. */
  end: string;
  /** What it writes after that token: the messages, and what opens the next action. */
  text: string;
  /** The end is written as another token once messages follow. */
  rewritesEnd: boolean;
}

/** A chat template, and the same one as it remembers what it was shown before. */
export interface ShownTemplate {
  render: ChatTemplate;
  again: ChatTemplate;
}

/** A vocabulary's tokens that are no text, and those of them that are known to end an action. */
export interface ControlTokens {
  all: readonly string[];
  ends: readonly string[];
}

/**
 * What a template writes after the action at the end of `chat`, in which `placeholder` stands, when `next` follows. The
 * action ends with the first known end that the template writes after it whether messages follow or not, or else with
 * the first control token, the last of calls. Where it writes none such, with the one that it ends with when nothing
 * follows (harmony), or the one that the next message begins with (GLM). Undefined if there is none, or the action is
 * not written. `again` renders what has no words of `next`, and so comes at every turn.
 */
export function followUp(
  { render, again }: ShownTemplate,
  control: ControlTokens,
  chat: readonly ShownMessage[],
  next: readonly ShownMessage[],
  tools: readonly ToolDefinition[],
): FollowUp | undefined {
  const alone = afterAction(again(chat, tools, false));
  const followed = afterAction(render([...chat, ...next], tools, true));
  if (alone === undefined || followed === undefined) return undefined;
  const common = alone.slice(0, commonLength(alone, followed));
  const ends = tokensIn(common, control.ends);
  const others = tokensIn(common, control.all);
  const known = ends[0] ?? others.at(chat.at(-1)?.tool_calls === undefined ? 0 : -1);
  if (known !== undefined) return { end: known.token, text: followed.slice(known.after), rewritesEnd: false };
  const own = control.all.filter((token) => alone.trimEnd().endsWith(token)).sort(byLength)[0];
  const at = own === undefined ? alone.trimEnd().length : alone.lastIndexOf(own);
  if (at > common.length) return undefined;
  const gap = /^\s*/.exec(followed.slice(at))?.[0].length ?? 0;
  const rest = followed.slice(at + gap);
  const end = control.all.filter((token) => rest.startsWith(token)).sort(byLength)[0];
  if (end === undefined) return undefined;
  return { end: own ?? end, text: rest.slice(end.length), rewritesEnd: own !== undefined };
}

function afterAction(text: string): string | undefined {
  const at = text.lastIndexOf(placeholder);
  return at < 0 ? undefined : text.slice(at + placeholder.length);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

/** Tokens in the order in which they stand in `text`, and where they end. */
function tokensIn(text: string, tokens: readonly string[]): { token: string; after: number }[] {
  return [...text.matchAll(anyOf(tokens))].map(({ 0: token, index }) => ({
    token,
    after: index + token.length,
  }));
}

const byLength = (one: string, other: string) => other.length - one.length;
