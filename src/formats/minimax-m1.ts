import { callOf } from "./json-calls.ts";
import { jsonText, jsonValues } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { unreadable } from "./unreadable.ts";

const example = '<tool_calls>\n{"name": "…", "arguments": {…}}\n</tool_calls>';

/** A JSON object a line, all between two tags. */
export const minimaxM1 = markedFormat({
  name: "minimax-m1",
  models: "MiniMax M1",
  example,
  marks: [{ open: "<tool_calls>", close: "</tool_calls>" }],
  calls: (text) => {
    const { values, end } = jsonValues(text);
    const calls = values.flat().map((value) => callOf(value, JSON.stringify(value), example));
    if (end < text.length || calls.length === 0)
      calls.push(unreadable(text.slice(end), "the tool call is not JSON", example));
    return calls;
  },
  render: (calls) => {
    const lines = calls.map(({ name, arguments: given }) => `${jsonText({ name, arguments: given })}\n`);
    return `<tool_calls>\n${lines.join("")}</tool_calls>`;
  },
});
