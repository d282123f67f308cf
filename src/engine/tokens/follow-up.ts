import type { ToolDefinition } from "../../contracts/message.ts";
import type { ChatTemplate, ShownMessage } from "./chat-template.ts";
import { anyOf } from "./control-text.ts";

/** Replaces an action while the text around it is cut from a rendered chat. */
export const placeholder = "EVERTURN_ACTION";

/** The text that a chat template writes after an action. */
export interface FollowUp {
  /** The token with which the model ends such an action. */
  end: string;
  /** The text after that token: the messages, and the opening of the next action. */
  text: string;
  /** The template writes another token as the end once messages follow. */
  rewritesEnd: boolean;
}

/** A chat template, and a version of it that caches renderings. */
export interface ShownTemplate {
  render: ChatTemplate;
  again: ChatTemplate;
}

/** The control tokens of a vocabulary, and those among them that are known to end an action. */
export interface ControlTokens {
  all: readonly string[];
  ends: readonly string[];
}

/**
 * Returns the text that a template writes after the action at the end of `chat`, which contains `placeholder`, when
 * `next` follows. The action ends with the first known end that the template writes whether messages follow or not.
 * Without one, it ends with the first control token there, or after calls with the last. Without any, it ends with the
 * token that the template writes when nothing follows (harmony) or with the one that begins the next message (GLM).
 * Returns undefined if there is none, or if the template does not write the action. `again` renders only texts without
 * `next`, which repeat every turn.
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

/** Returns the tokens in `text` in order, with their ends. */
function tokensIn(text: string, tokens: readonly string[]): { token: string; after: number }[] {
  return [...text.matchAll(anyOf(tokens))].map(({ 0: token, index }) => ({
    token,
    after: index + token.length,
  }));
}

const byLength = (one: string, other: string) => other.length - one.length;
