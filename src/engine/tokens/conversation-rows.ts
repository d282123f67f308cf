import type { ToolDefinition } from "../../contracts/message.ts";
import type { TokenizedText } from "../../contracts/policy.ts";
import type { ChatTemplate, ShownMessage } from "./chat-template.ts";
import { anyOf } from "./control-text.ts";
import type { Framing } from "./framing.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** A conversation framed turn by turn, compared with the template's own rendering of the whole. */
export interface ConversationRows {
  /**
   * The number of sequences that the template's renderings form. In a sequence, each rendering continues the previous
   * one.
   */
  rows: number;
  /** The pieces of each sequence in order: a prompt, then alternating actions and observations. */
  pieces: TokenizedText[][];
  /** Differences between the joined pieces and the rendering, in text or tokens. */
  differences: string[];
}

/**
 * Renders a conversation up to each of its actions. If a rendering begins with the previous one, the added text is an
 * action and an observation. If the template rewrites earlier messages, a new sequence begins. Throws the errors of the
 * template and the framing.
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
  /**
   * Returns an action as the template writes it at the end of a chat. The template may change or shorten it once
   * messages follow.
   */
  const actionText = (turn: number, before: string) => {
    const text = render(messages.slice(0, (actions[turn] ?? 0) + 1), tools, false);
    if (!text.startsWith(before)) return undefined; // it opens differently than after a prompt
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
