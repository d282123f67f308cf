import { jsonCalls } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";

const example = 'Action: ```json\n[{"tool_name": "…", "parameters": {…}}]\n```';

/** Cohere's fenced list of actions. The action `directly_answer` is not a call. */
export const commandR = markedFormat({
  name: "command-r",
  models: "Command R, Command R+",
  example,
  marks: ["Action: ```json", "Action:```json", "Action:\n```json", "Action:\r\n```json"].map((open) =>
    enclosing({ open, close: "```" }, jsonEnd),
  ),
  calls: (text) =>
    jsonCalls(text.trim(), example).filter((call) => !("name" in call) || call.name !== "directly_answer"),
  render: (calls) => {
    const written = calls.map(({ name, arguments: given }) =>
      jsonText({ tool_name: name, parameters: given }),
    );
    return `Action: \`\`\`json\n[\n    ${written.join(",\n    ")}\n]\n\`\`\``;
  },
});
