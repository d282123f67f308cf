import { isObject } from "../contracts/json.ts";
import type { ReadAction, ReadCall, SpokenAction } from "../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { jsonOf, jsonText } from "./json-text.ts";
import { unreadable } from "./unreadable.ts";

const start = "<|start|>";
const example = "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>";

/**
 * Messages on channels: `analysis` is thought, `final` and `commentary` are said, and what goes to a function is a call. The
 * first message begins where the prompt has written whose it is.
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

function readMessages(text: string): ReadAction {
  const thoughts: string[] = [];
  const said: string[] = [];
  const calls: ReadCall[] = [];
  for (const message of text.split(start)) {
    const at = message.indexOf("<|message|>");
    const header = at < 0 ? message : message.slice(0, at);
    const content = at < 0 ? "" : contentOf(message.slice(at + "<|message|>".length));
    const [, recipient] = /(?:^|\s|assistant|\|>)to=([^\s<]+)/.exec(header) ?? [];
    const [before = ""] = header.split("<|channel|>", 1);
    if (!/^(assistant)?\s*(to=\S*)?$/.test(before.trim())) said.push(contentOf(before));
    const [, channel] = /<\|channel\|>\s*(\w+)/.exec(header) ?? [];
    if (recipient !== undefined && recipient !== "assistant")
      calls.push(
        at < 0
          ? unreadable(message, "the tool call has no <|message|>", example)
          : callTo(recipient, content),
      );
    else if (at < 0) continue;
    else if (channel === "analysis") thoughts.push(content);
    else said.push(content);
  }
  const whole = (parts: string[]) => parts.filter((part) => part.trim() !== "").join("\n");
  return { reasoning: whole(thoughts), answer: whole(said), calls };
}

/** Messages on the channel `analysis` are thoughts; one final message is an answer, and all else stays as it was written. */
function textOfMessages(text: string): SpokenAction {
  const { reasoning, answer, calls } = readMessages(text);
  if (calls.length === 0) return { reasoning, answer };
  const said = text
    .split(start)
    .filter((message) => !/^[^<]*<\|channel\|>\s*analysis\s*<\|message\|>/.test(message));
  return { reasoning, answer: said.join(start) };
}

function contentOf(text: string): string {
  const end = text.search(/<\|(?:end|call|return)\|>/);
  return end < 0 ? text : text.slice(0, end);
}

function callTo(recipient: string, content: string): ReadCall {
  const name = recipient.replace(/^functions\./, "");
  const given = content.trim() === "" ? {} : jsonOf(content.trim());
  if (given === undefined) return unreadable(content, `the arguments of ${name} are not JSON`, example);
  if (!isObject(given)) return unreadable(content, `the arguments of ${name} are not an object`, example);
  return { name, arguments: given };
}
