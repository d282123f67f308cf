import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { movedImages, type PlacedImage } from "../../contracts/image-tokens.ts";
import type { Message, ToolDefinition } from "../../contracts/message.ts";
import type { CutText, MaskedTokens, TokenizedText, TokenLimit } from "../../contracts/policy.ts";
import { compileChatTemplate, remembered, type ShownMessage } from "./chat-template.ts";
import { type HiddenControl, hideControl, type Span } from "./control-text.ts";
import { cutToTokens } from "./cut-to-tokens.ts";
import { placeholder } from "./follow-up.ts";
import { shownFollowUp } from "./follow-up-shown.ts";
import { type ImageFraming, placedImages, type RenderedText, renderedText } from "./image-framing.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Turns messages into tokens, so that a trajectory only ever grows: prompt, action, observation, action, … */
export type Framing = {
  framePrompt(messages: Message[], tools: ToolDefinition[]): TokenizedText;
  frameObservation(messages: readonly ShownMessage[], callsBefore?: number): TokenizedText;
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens;
  cutText(text: string, limit: TokenLimit): CutText;
};

/**
 * Returns the framing of a tokenizer's chat template, and of images if the model reads them.
 * - A prompt is the rendered chat up to the beginning of the first action.
 * - An observation is the text that the template writes between its end-of-turn token and the next action, with any
 *   messages in between. The token itself is excluded, because the action contains a sampled one, or another token that
 *   ends it.
 * - A demonstration consists of the same pieces: a prompt, actions (mask 1, including the end-of-turn token) and
 *   observations (mask 0). So it equals a trajectory with those texts token by token.
 *
 * Throws CHAT_TEMPLATE_UNUSABLE if the template doesn't end an assistant's message with a token, or rewrites earlier
 * messages.
 */
export function createFraming(tokenizer: Tokenizer, images?: ImageFraming): Framing {
  const render = compileChatTemplate(tokenizer.chatTemplate, tokenizer.specialTokens);
  const template = { render, again: remembered(render) };
  const hide = hideControl([...tokenizer.control.all, placeholder]); // tools may write it, too
  const tokenize = (text: string, written: readonly Span[] = []): TokenizedText => ({
    text,
    tokens: tokenizer.encode(text, written),
  });

  /** Returns the tokens of a text that continues another. SentencePiece puts a space before a text by itself. */
  const continued = (before: TokenizedText, text: string, written: readonly Span[] = []): TokenizedText => {
    const { length } = before.text;
    const moved = written.map(({ start, end }) => ({ start: start + length, end: end + length }));
    const whole = tokenizer.encode(before.text + text, moved);
    const goesOn = before.tokens.every((token, at) => token === whole[at]);
    return goesOn ? { text, tokens: whole.slice(before.tokens.length) } : tokenize(text, written);
  };

  /** Returns a rendered text with the tokens of its images, where `encode` makes tokens of an expanded text. */
  const withImages = (
    rendered: string,
    hidden: HiddenControl,
    encode: (text: string, written: readonly Span[]) => TokenizedText,
  ): TokenizedText => {
    const shown: RenderedText = renderedText(rendered, hidden, images);
    const { tokens } = encode(shown.expanded.text, shown.expanded.written);
    const placed = placedImages(tokens, shown.images, images);
    return defined({ text: shown.text, tokens, images: placed.length === 0 ? undefined : placed });
  };

  const framePrompt = (messages: Message[], tools: ToolDefinition[]) => {
    const hidden = hide(messages, tools);
    return withImages(render(hidden.messages, hidden.tools, true), hidden, tokenize);
  };

  let counts: boolean | undefined;
  /** Whether the template numbers calls, so that the text of an answer depends on the number of earlier calls. */
  const countsCalls = () => {
    const [first, second] = [0, 1].map((earlier) =>
      shownFollowUp(template, tokenizer.control, [answer], earlier),
    );
    return first?.text !== second?.text;
  };

  const frameObservation = (messages: readonly ShownMessage[], callsBefore = 0) => {
    const hidden = hide(messages, []);
    const answers = messages.filter(({ role }) => role === "tool").length;
    const earlier = answers === 0 ? 0 : Math.max(0, callsBefore - answers);
    if (earlier > 0) counts ??= countsCalls();
    const found = shownFollowUp(template, tokenizer.control, hidden.messages, counts ? earlier : 0);
    if (found === undefined) throw endless();
    const end = tokenize(found.end);
    return withImages(found.text, hidden, (text, written) => continued(end, text, written));
  };

  /**
   * Returns the action in a chat rendered as `text`. `before` is the text up to the action, and `preceding` its tokens'
   * piece.
   */
  const frameAction = (text: string, before: string, preceding: TokenizedText, end: string) => {
    if (!text.startsWith(before)) throw unusable("it writes earlier messages differently later on");
    const stop = text.lastIndexOf(end);
    const action = stop < before.length ? text.trimEnd() : text.slice(0, stop);
    return continued(preceding, action.slice(before.length) + end);
  };

  const frameDemonstration = (messages: Message[], tools: ToolDefinition[]) => {
    const tokens: number[] = [];
    const mask: number[] = [];
    const placed: PlacedImage[] = [];
    const append = (piece: TokenizedText, loss: 0 | 1) => {
      placed.push(...movedImages(piece.images, tokens.length));
      for (const token of piece.tokens) {
        tokens.push(token);
        mask.push(loss);
      }
    };
    let start = 0;
    messages.forEach((message, index) => {
      if (message.role !== "assistant") return;
      const hidden = hide(messages.slice(0, index + 1), tools);
      const before = render(hidden.messages.slice(0, index), hidden.tools, true);
      const opening =
        start === 0
          ? framePrompt(messages.slice(0, index), tools)
          : frameObservation(messages.slice(start, index));
      append(opening, 0);
      const preceding = tokenize(opening.text);
      const text = render(hidden.messages, hidden.tools, false);
      const end = message.tool_calls?.length ? tokenizer.endOfCalls : tokenizer.endOfTurn;
      append(frameAction(text, before, preceding, end.text), 1);
      start = index + 1;
    });
    if (start === 0) throw new EverturnError("DEMONSTRATION_WITHOUT_ACTION", { messages: messages.length });
    return defined<MaskedTokens>({ tokens, mask, images: placed.length === 0 ? undefined : placed });
  };

  const cutText = (text: string, limit: TokenLimit) => cutToTokens(tokenizer, text, limit);
  return { framePrompt, frameObservation, frameDemonstration, cutText };
}

const answer: ShownMessage = { role: "tool", name: "tool", content: "?" };

function endless(): EverturnError {
  return unusable(
    "an assistant's message doesn't end with a token that ends a turn, or what follows it is left out",
  );
}

function unusable(reason: string): EverturnError {
  return new EverturnError("CHAT_TEMPLATE_UNUSABLE", { reason });
}
