import { jsonCalls } from "./json-calls.ts";
import { jsonText, jsonTexts } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const example = '<tool_calls>\n{"name": "…", "arguments": {…}}\n</tool_calls>';

/** One JSON object per line, all between two tags. */
export const minimaxM1 = markedFormat({
  name: "minimax-m1",
  models: "MiniMax M1",
  example,
  marks: [
    enclosing(
      { open: "<tool_calls>", close: "</tool_calls>", starts: "{[" },
      (text, from) => jsonTexts(text, from).end,
    ),
  ],
  calls: (text) => {
    const { texts, end } = jsonTexts(text);
    const calls = texts.flatMap((one) => jsonCalls(one, example));
    const left = text.slice(end).trim();
    if (left !== "" || texts.length === 0) calls.push(unreadable(left, "the tool call is not JSON", example));
    return calls;
  },
  render: (calls) => {
    const lines = calls.map(({ name, arguments: given }) => `${jsonText({ name, arguments: given })}\n`);
    return `<tool_calls>\n${lines.join("")}</tool_calls>`;
  },
});
