import type { ToolCall } from "../../contracts/message.ts";
import { jsonText } from "./json-text.ts";
import type { Tags } from "./tagged-calls.ts";

/**
 * A sequence of calls like `<invoke name="f"><parameter name="a">1</parameter></invoke>`. `prefix` precedes each
 * tag's name. `string="true"` in a parameter marks its value as text, and "false" as JSON.
 */
export function invokeTags(prefix: string, closes: readonly string[]): Tags {
  const [invoke, parameter] = [`<${prefix}invoke name="`, `<${prefix}parameter name="`];
  return {
    call: new RegExp(`${invoke}([^"<>\\n]+)">`, "y"),
    callOpen: invoke,
    callClose: { tag: `</${prefix}invoke>`, optional: false },
    argument: new RegExp(`${parameter}([^"<>\\n]+)"(?: string="(true|false)")?>`, "y"),
    argumentOpen: parameter,
    argumentClose: `</${prefix}parameter>`,
    closes: [invoke, ...closes],
  };
}

/** Writes calls in that form, one per paragraph. `marksTexts` adds the attribute `string`. */
export function writeInvokes(calls: readonly ToolCall[], prefix: string, marksTexts = false): string {
  return calls
    .map(({ name, arguments: given }) => {
      const parameters = Object.entries(given).map(([key, value]) => {
        const isText = typeof value === "string";
        const mark = marksTexts ? ` string="${isText}"` : "";
        const written = isText ? value : jsonText(value);
        return `<${prefix}parameter name="${key}"${mark}>${written}</${prefix}parameter>\n`;
      });
      return `<${prefix}invoke name="${name}">\n${parameters.join("")}</${prefix}invoke>\n`;
    })
    .join("");
}
