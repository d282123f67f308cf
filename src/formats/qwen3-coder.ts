import type { ToolDefinition } from "../contracts/message.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import { jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { typedArguments } from "./typed-value.ts";
import { unreadable } from "./unreadable.ts";

const example =
  "<tool_call>\n<function=NAME>\n<parameter=ARGUMENT>\nVALUE\n</parameter>\n</function>\n</tool_call>";

/** XML with names in the tags; texts stand as they are, all else as JSON. */
export const qwen3Coder = markedFormat({
  name: "qwen3-coder",
  models: "Qwen3-Coder, Qwen 3.5, Nemotron 3 Nano, Step 3.5",
  example,
  marks: [{ open: "<tool_call>", close: "</tool_call>" }],
  calls: (text, tools) => [readFunction(text, tools)],
  render: (calls) =>
    calls
      .map(({ name, arguments: given }) => {
        const parameters = Object.entries(given).map(
          ([key, value]) =>
            `<parameter=${key}>\n${typeof value === "string" ? value : jsonText(value)}\n</parameter>\n`,
        );
        return `<tool_call>\n<function=${name}>\n${parameters.join("")}</function>\n</tool_call>`;
      })
      .join("\n"),
});

function readFunction(text: string, tools: readonly ToolDefinition[]): ReadCall {
  const [, name] = /^<function=([^<>\n]+)>/.exec(text) ?? [];
  if (name === undefined) return unreadable(text, "the tool call names no function", example);
  const end = text.lastIndexOf("</function>");
  const parts = text
    .slice(0, end < 0 ? undefined : end)
    .split("<parameter=")
    .slice(1);
  const given: [string, string][] = [];
  for (const part of parts) {
    const keyEnd = part.indexOf(">");
    const close = part.lastIndexOf("</parameter>");
    if (keyEnd < 0 || close < keyEnd) return unreadable(text, "an argument is not closed", example);
    given.push([part.slice(0, keyEnd).trim(), withoutLineEnds(part.slice(keyEnd + 1, close))]);
  }
  return { name: name.trim(), arguments: typedArguments(tools, name.trim(), given) };
}

/** A value stands on lines of its own. */
function withoutLineEnds(value: string): string {
  return value.replace(/^\n/, "").replace(/\n$/, "");
}
