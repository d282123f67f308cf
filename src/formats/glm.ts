import type { ToolDefinition } from "../contracts/message.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import { jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { typedArguments } from "./typed-value.ts";
import { unreadable } from "./unreadable.ts";

const example = "<tool_call>NAME\n<arg_key>ARGUMENT</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>";

/** Pairs of tags, a name and a value; texts stand as they are, all else as JSON. */
export const glm = markedFormat({
  name: "glm-4.5",
  models: "GLM 4.5, 4.6 and 4.7, Ling 3, Laguna, Spark 2.5",
  example,
  marks: [{ open: "<tool_call>", close: "</tool_call>" }],
  calls: (text, tools) => [readPairs(text, tools)],
  render: (calls) =>
    calls
      .map(({ name, arguments: given }) => {
        const pairs = Object.entries(given).map(([key, value]) => {
          const written = typeof value === "string" ? value : jsonText(value);
          return `<arg_key>${key}</arg_key>\n<arg_value>${written}</arg_value>\n`;
        });
        return `<tool_call>${name}\n${pairs.join("")}</tool_call>`;
      })
      .join("\n"),
});

function readPairs(text: string, tools: readonly ToolDefinition[]): ReadCall {
  const [before = "", ...parts] = text.split("<arg_key>");
  const name = before.trim();
  if (!/^[^\s<>{}"]+$/.test(name)) return unreadable(text, "the tool call names no function", example);
  const given: [string, string][] = [];
  for (const part of parts) {
    const keyEnd = part.indexOf("</arg_key>");
    const open = part.indexOf("<arg_value>", keyEnd);
    const close = part.lastIndexOf("</arg_value>");
    if (keyEnd < 0 || open < 0 || close < open) return unreadable(text, "an argument is not closed", example);
    given.push([part.slice(0, keyEnd).trim(), part.slice(open + "<arg_value>".length, close)]);
  }
  return { name, arguments: typedArguments(tools, name, given) };
}
