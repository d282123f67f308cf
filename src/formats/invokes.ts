import type { ToolCall, ToolDefinition } from "../contracts/message.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import { jsonOf, jsonText } from "./json-text.ts";
import { argumentSchema, typedValue } from "./typed-value.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Calls of the form `<invoke name="f"><parameter name="a">1</parameter></invoke>`, one after the other; `prefix` stands in
 * front of each tag's name. `string="true"` in a parameter says that its value is a text, and "false" that it is JSON.
 */
export function readInvokes(
  text: string,
  { prefix, example, tools }: { prefix: string; example: string; tools: readonly ToolDefinition[] },
): ReadCall[] {
  const [before = "", ...parts] = text.split(`<${prefix}invoke name="`);
  if (before.trim() !== "" || parts.length === 0)
    return [unreadable(text, "the tool call names no function", example)];
  return parts.map((part) => {
    const nameEnd = part.indexOf('">');
    const close = part.lastIndexOf(`</${prefix}invoke>`);
    if (nameEnd < 0) return unreadable(part, "the tool call names no function", example);
    if (close < nameEnd) return unreadable(part, "the tool call is not closed", example);
    const name = part.slice(0, nameEnd);
    const given = part
      .slice(nameEnd + 2, close)
      .split(`<${prefix}parameter name="`)
      .slice(1)
      .map((one) => readParameter(one, prefix));
    if (given.includes(undefined)) return unreadable(part, "an argument is not closed", example);
    const told = given.flatMap((one) => {
      if (one === undefined) return [];
      const { key, value, isText } = one;
      const said = isText === true ? value : isText === false ? jsonOf(value) : undefined;
      return [[key, said === undefined ? typedValue(value, argumentSchema(tools, name, key)) : said]];
    });
    return { name, arguments: Object.fromEntries(told) };
  });
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

function readParameter(
  text: string,
  prefix: string,
): { key: string; value: string; isText: boolean | undefined } | undefined {
  const [opening, key, , mark] = /^([^"]*)"( string="(true|false)")?>/.exec(text) ?? [];
  const close = text.lastIndexOf(`</${prefix}parameter>`);
  if (opening === undefined || key === undefined || close < opening.length) return undefined;
  const isText = mark === undefined ? undefined : mark === "true";
  return { key, value: text.slice(opening.length, close), isText };
}
