import type { ToolDefinition } from "../../contracts/message.ts";
import type { TokenizedText } from "../../contracts/policy.ts";
import type { ChatTemplate, ShownMessage } from "./chat-template.ts";
import { anyOf } from "./control-text.ts";
import type { Framing } from "./framing.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** How a conversation is framed turn by turn, held against the template's own whole rendering. */
export interface ConversationRows {
  /** Sequences that the template's renderings make of it: one where each goes on after the one before. */
  rows: number;
  /** Pieces of each sequence, in order: a prompt, then actions and observations in turn. */
  pieces: TokenizedText[][];
  /** Where pieces put together are not the rendering, text by text or token by token. */
  differences: string[];
}

/**
 * Renders a conversation up to each of its actions. Where a rendering begins with the one before, what it adds is an action and an observation; where the template writes
 * earlier messages differently later on, a new sequence begins. Throws what the template or the framing refuse.
 */
export function conversationRows(
  render: ChatTemplate,
  tokenizer: Tokenizer,
  framing: Framing,
  messages: readonly ShownMessage[],
  tools: readonly ToolDefinition[],
): ConversationRows {
  const actions = messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  const prompts = actions.map((at) => render(messages.slice(0, at), tools, true));
  /** An action as the template writes it at the end of a chat: it may be changed, or shortened, once more follows. */
  const actionText = (turn: number, before: string) => {
    const text = render(messages.slice(0, (actions[turn] ?? 0) + 1), tools, false);
    if (!text.startsWith(before)) return undefined; // it is opened in another way than a prompt opens it
    const [end] = text.slice(before.length).matchAll(anyOf(tokenizer.control.ends));
    return text.slice(before.length, end && before.length + end.index + end[0].length).trimEnd();
  };
  const tokenized = (text: string) => ({ text, tokens: tokenizer.encode(text) });
  const rows: { pieces: TokenizedText[]; whole: string }[] = [];
  const differences: string[] = [];
  for (const [turn, prompt] of prompts.entries()) {
    const before = prompts[turn - 1];
    const row = rows.at(-1);
    const own = before === undefined ? undefined : actionText(turn - 1, before);
    if (row === undefined || before === undefined || !prompt.startsWith(before + (own ?? ""))) {
      rows.push({ pieces: [tokenized(prompt)], whole: prompt });
      continue;
    }
    const added = prompt.slice(before.length);
    const from = (actions[turn - 1] ?? 0) + 1;
    const calls = messages.slice(0, actions[turn]).filter(({ role }) => role === "tool").length;
    const observation = framing.frameObservation(messages.slice(from, actions[turn]), calls);
    row.whole = prompt;
    if (!added.endsWith(observation.text) || added === observation.text) {
      differences.push(
        `after action ${turn} it writes ${quoted(added)}, and not ${quoted(observation.text)}`,
      );
      row.pieces.push(tokenized(added));
      continue;
    }
    row.pieces.push(tokenized(added.slice(0, -observation.text.length)), observation);
  }
  for (const { pieces, whole } of rows) {
    const tokens = pieces.flatMap((piece) => piece.tokens);
    const expected = tokenizer.encode(whole);
    const at = expected.findIndex((token, index) => token !== tokens[index]);
    if (tokens.length !== expected.length || at >= 0)
      differences.push(
        `its tokens differ from number ${at} on: ${quoted(tokenizer.decode(expected.slice(at, at + 8)))}`,
      );
  }
  return { rows: rows.length, pieces: rows.map(({ pieces }) => pieces), differences };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 100)} … ${text.slice(-100)}` : text);
}
