import type { ReadAction, ReadCall, SpokenAction } from "../../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { namedCall } from "./json-calls.ts";
import { jsonEnd, jsonText, spacesEnd } from "./json-text.ts";
import { finder } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const start = "<|start|>";
const message = "<|message|>";
const ends = ["<|end|>", "<|call|>", "<|return|>"];
const example = "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>";

/**
 * Messages on channels: `analysis` is thought, `final` and `commentary` are answers, and messages to functions are
 * calls. The prompt has already written the header of the first message. If the model continues in another role, its
 * action has ended.
 */
export const harmony = modelFormat({
  name: "harmony",
  models: "gpt-oss",
  example,
  read: readMessages,
  asText: textOfMessages,
  render: (calls) =>
    calls
      .map(
        ({ name, arguments: given }, index) =>
          `${index === 0 ? "" : `${start}assistant`}<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${jsonText(given)}<|call|>`,
      )
      .join(""),
});

interface Message {
  /** Whether the message has a header of its own. */
  isNamed: boolean;
  header: string;
  /** Undefined if no content begins. */
  content: string | undefined;
}

function readMessages(text: string): ReadAction {
  const thoughts: string[] = [];
  const said: string[] = [];
  const calls: ReadCall[] = [];
  for (const { isNamed, header, content } of messagesOf(text)) {
    const recipient = recipientOf(header);
    const [before = ""] = header.split("<|channel|>", 1);
    if (!/^(?:assistant)?\s*(?:to=\S*)?$/.test(before.trim())) {
      if (isNamed) break;
      said.push(before);
    }
    const [, channel] = /<\|channel\|>\s*(\w+)/.exec(header) ?? [];
    if (recipient !== undefined)
      calls.push(
        content === undefined
          ? unreadable(header, "the tool call has no <|message|>", example)
          : callTo(recipient, content),
      );
    else if (content === undefined) continue;
    else if (channel === "analysis") thoughts.push(content);
    else said.push(content);
  }
  const whole = (parts: string[]) => parts.filter((part) => part.trim() !== "").join("\n");
  return { reasoning: whole(thoughts), answer: whole(said), calls };
}

/**
 * Messages on the channel `analysis` are thoughts. A single final message is the answer. Everything else stays
 * unchanged.
 */
function textOfMessages(text: string): SpokenAction {
  const { reasoning, answer, calls } = readMessages(text);
  if (calls.length === 0) return { reasoning, answer };
  const said = text
    .split(start)
    .filter((part) => !/^[^<]*<\|channel\|>\s*analysis\s*<\|message\|>/.test(part));
  return { reasoning, answer: said.join(start) };
}

/** The messages of a text. Special tokens inside the texts of a call's JSON are part of the JSON. */
function messagesOf(text: string): Message[] {
  const find = finder(text);
  const messages: Message[] = [];
  const firstOf = (marks: readonly string[], from: number) =>
    Math.min(...marks.map((mark) => find(mark, from)).map((at) => (at < 0 ? text.length : at)));
  let left = 2 * text.length;
  for (let at = 0; at < text.length; ) {
    const isNamed = text.startsWith(start, at);
    if (isNamed) at += start.length;
    const headerEnd = firstOf([message, start, ...ends], at);
    const header = text.slice(at, headerEnd);
    const from = headerEnd + message.length;
    const hasContent = text.startsWith(message, headerEnd);
    const whole = hasContent && recipientOf(header) !== undefined ? jsonIn(from) : undefined;
    const end = hasContent ? (whole ?? firstOf([start, ...ends], from)) : headerEnd;
    messages.push({ isNamed, header, content: hasContent ? text.slice(from, end) : undefined });
    at = firstOf([start], end);
  }
  return messages;

  /** Where a JSON text that fills the whole message ends; undefined if there is none. */
  function jsonIn(from: number): number | undefined {
    if (left < 0) return undefined;
    const end = jsonEnd(text, from);
    left -= (end < 0 ? text.length : end) - from;
    const after = spacesEnd(text, end);
    const isWhole = after === text.length || [start, ...ends].some((mark) => text.startsWith(mark, after));
    return end >= 0 && isWhole ? after : undefined;
  }
}

function recipientOf(header: string): string | undefined {
  const [, recipient] = /(?:^|\s|assistant|\|>)to=([^\s<]+)/.exec(header) ?? [];
  return recipient === "assistant" ? undefined : recipient;
}

function callTo(recipient: string, content: string): ReadCall {
  return namedCall({ name: recipient.replace(/^functions\./, ""), body: content }, content, example);
}
