import type { ToolCall } from "../../contracts/message.ts";
import { jsonText } from "./json-text.ts";
import type { Tags } from "./tagged-calls.ts";

/**
 * Calls of the form `<invoke name="f"><parameter name="a">1</parameter></invoke>`, one after the other; `prefix` stands in
 * front of each tag's name. `string="true"` in a parameter says that its value is a text, and "false" that it is JSON.
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

/** Calls in that form, one a paragraph; `marksTexts`: with the attribute `string`. */
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
