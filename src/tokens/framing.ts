import type { Message, ToolDefinition } from "../contracts/message.ts";
import type { MaskedTokens, TokenizedText } from "../contracts/policy.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { compileChatTemplate } from "./chat-template.ts";
import { exampleChat, placeholder } from "./end-of-turn.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Turns messages into tokens, so that a trajectory only ever grows: prompt, action, observation, action, … */
export type Framing = {
  framePrompt(messages: Message[], tools: ToolDefinition[]): TokenizedText;
  frameObservation(messages: Message[]): TokenizedText;
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens;
};

/**
 * Framing by a tokenizer's chat template:
 * - the prompt is the rendered chat up to where the first action begins;
 * - an observation is what the template writes between its end of turn (an action has one that was sampled, or another
 *   token that ends an action in its place, so it isn't included) and the next action, whatever messages stand between;
 * - a demonstration is a prompt, actions (mask 1, end-of-turn token included) and observations (mask 0),
 *   made of the same pieces, and so equal token by token to a trajectory with those texts.
 *
 * Fails with CHAT_TEMPLATE_UNUSABLE when the template doesn't end an assistant's message with a token, or rewrites
 * earlier messages.
 */
export function createFraming(tokenizer: Tokenizer): Framing {
  const render = compileChatTemplate(tokenizer.chatTemplate, tokenizer.specialTokens);
  const end = tokenizer.endOfTurn.text;
  const tokenize = (text: string): TokenizedText => ({ text, tokens: tokenizer.encode(text) });

  /** Tokens of a text where it goes on after another: SentencePiece puts a space before one that stands alone. */
  const continued = (before: TokenizedText, text: string): TokenizedText => {
    const whole = tokenizer.encode(before.text + text);
    const goesOn = before.tokens.every((token, at) => token === whole[at]);
    return goesOn ? { text, tokens: whole.slice(before.tokens.length) } : tokenize(text);
  };

  const framePrompt = (messages: Message[], tools: ToolDefinition[]) =>
    tokenize(render(messages, tools, true));

  const frameObservation = (messages: Message[]) => {
    const text = render([...exampleChat, ...messages], [], true);
    // Llama 2's template writes a space before eos_token, which is the model's to write
    const after = text.slice(text.indexOf(placeholder) + placeholder.length).trimStart();
    if (!text.includes(placeholder) || !after.startsWith(end)) throw endless(end);
    return continued(tokenize(end), after.slice(end.length));
  };

  /** Of a chat that is rendered as `text`, up to an action as `before`: the action, which goes on after `preceding`. */
  const frameAction = (text: string, before: string, preceding: TokenizedText) => {
    if (!text.startsWith(before)) throw unusable("it writes earlier messages differently later on");
    const stop = text.lastIndexOf(end);
    if (stop < before.length) throw endless(end);
    return continued(preceding, text.slice(before.length, stop + end.length));
  };

  const frameDemonstration = (messages: Message[], tools: ToolDefinition[]) => {
    const tokens: number[] = [];
    const mask: number[] = [];
    const append = (piece: TokenizedText, loss: 0 | 1) => {
      for (const token of piece.tokens) {
        tokens.push(token);
        mask.push(loss);
      }
    };
    let start = 0;
    messages.forEach((message, index) => {
      if (message.role !== "assistant") return;
      const before = render(messages.slice(0, index), tools, true);
      const opening = start === 0 ? tokenize(before) : frameObservation(messages.slice(start, index));
      append(opening, 0);
      const preceding = start === 0 ? opening : tokenize(opening.text);
      const text = render(messages.slice(0, index + 1), tools, false);
      append(frameAction(text, before, preceding), 1);
      start = index + 1;
    });
    if (start === 0) throw new EverturnError("DEMONSTRATION_WITHOUT_ACTION", { messages: messages.length });
    return { tokens, mask };
  };

  return { framePrompt, frameObservation, frameDemonstration };
}

function endless(end: string): EverturnError {
  return unusable(`an assistant's message doesn't end with a token that ends a turn, such as ${end}`);
}

function unusable(reason: string): EverturnError {
  return new EverturnError("CHAT_TEMPLATE_UNUSABLE", { reason });
}
