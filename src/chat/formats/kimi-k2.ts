import type { ReadCall } from "../../contracts/parsed-action.ts";
import { namedCall } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { enclosing } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const begin = "<|tool_calls_section_begin|>";
const end = "<|tool_calls_section_end|>";
/** Some models write the marks of a section in the singular. */
const singular = [begin, end].map((mark) => mark.replace("calls", "call"));
const separator = "<|tool_call_argument_begin|>";
const example = `${begin}<|tool_call_begin|>functions.NAME:0${separator}{…}<|tool_call_end|>${end}`;

/** An id that consists of the function's name and the call's number, and the arguments. */
export const kimiK2 = markedFormat({
  name: "kimi-k2",
  models: "Kimi K2",
  example,
  marks: [enclosing({ open: "<|tool_call_begin|>", close: "<|tool_call_end|>" }, callEnd)],
  dropped: [begin, end, ...singular],
  calls: (text) => [readCall(text)],
  render: (calls) => {
    const written = calls.map(
      ({ name, arguments: given }, index) =>
        `<|tool_call_begin|>functions.${name}:${index}${separator}${jsonText(given)}<|tool_call_end|>`,
    );
    return `${begin}${written.join("")}${end}`;
  },
});

function readCall(text: string): ReadCall {
  const at = text.indexOf(separator);
  if (at < 0) return unreadable(text, `the tool call has no ${separator}`, example);
  const id = text.slice(0, at).trim();
  const name = id.replace(/^functions\./, "").replace(/:\d+$/, "");
  if (!/^\S+$/.test(name)) return unreadable(text, "the tool call names no function", example);
  const body = text.slice(at + separator.length);
  return namedCall({ name, id: id === name ? undefined : id, body }, text, example);
}

function callEnd(text: string, from: number): number {
  const head = matchAt(/[^<]*<\|tool_call_argument_begin\|>/y, text, from);
  return head === undefined ? -1 : jsonEnd(text, head.end);
}
