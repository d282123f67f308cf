import { jsonCalls } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";

const example = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "…", "parameters": {…}}]<|END_ACTION|>';

/** Cohere's list of actions with ids. Thoughts and answers have tokens of their own. */
export const commandA = markedFormat({
  name: "command-a",
  models: "Command R7B, Command A",
  example,
  marks: [enclosing({ open: "<|START_ACTION|>", close: "<|END_ACTION|>" }, jsonEnd)],
  thoughts: [{ open: "<|START_THINKING|>", close: "<|END_THINKING|>", anywhere: true }],
  dropped: ["<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"],
  calls: (text) => jsonCalls(text.trim(), example),
  render: (calls) => {
    const written = calls.map(({ name, arguments: given }, index) =>
      jsonText({ tool_call_id: String(index), tool_name: name, parameters: given }),
    );
    return `<|START_ACTION|>[\n    ${written.join(",\n    ")}\n]<|END_ACTION|>`;
  },
});
