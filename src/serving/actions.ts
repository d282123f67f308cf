import type { JsonObject } from "../contracts/json.ts";
import { isObject } from "../contracts/json.ts";
import type { OfferedFunction } from "../contracts/plan.ts";
import { type TextFunction, textCall, textFunctions } from "../formats/text-functions.ts";

/** Calls in the text of an action, and how what they answer is written for the model. */
export interface ParsedAction {
  calls: ({ function: string; arguments: JsonObject } | { problem: string })[];
  /** One observation, for the answer of one call. */
  written(text: string): string;
}

/**
 * The calls in what a model wrote, in the first of these forms that is there; undefined if there is none:
 * `<tool_call>{"name": …, "arguments": …}</tool_call>`, once or more; of a function that takes one text, its name as a tag,
 * `<search>…</search>`, or as a fence, as are the languages of one that has `language`, `<python>…</python>`; the JSON of a call
 * alone. Several texts of one function are one, line after line, as in verl-tool's `python_code`.
 */
export function parseAction(action: string, functions: readonly OfferedFunction[]): ParsedAction | undefined {
  const hermes = between(action, "<tool_call>", "</tool_call>");
  if (hermes.length > 0) return { calls: hermes.map(callOf), written: inTags("tool_response") };
  const names = textFunctions(functions);
  for (const name of names) {
    const texts = between(action, `<${name.spelled}>`, `</${name.spelled}>`);
    if (texts.length > 0) {
      const written = name.spelled === "search" ? information : inTags("result");
      return { calls: [callOfTexts(name, texts)], written };
    }
  }
  const fences = fencesOf(action);
  for (const name of names) {
    const texts = fences.flatMap(({ language, text }) => (language === name.spelled ? [text] : []));
    if (texts.length > 0) return { calls: [callOfTexts(name, texts)], written: fenced };
  }
  if (!action.trimStart().startsWith("{")) return undefined;
  const [alone] = [callOf(action)];
  return "problem" in alone ? undefined : { calls: [alone], written: inTags("tool_response") };
}

function callOfTexts(called: TextFunction, texts: string[]) {
  const { name, arguments: given } = textCall(called, texts.map((one) => one.trim()).join("\n"));
  return { function: name, arguments: given };
}

/** What stands between an opening and the closing that follows it, as often as it does. */
function between(text: string, opening: string, closing: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(opening); at >= 0; ) {
    const from = at + opening.length;
    const to = text.indexOf(closing, from);
    if (to < 0) break;
    found.push(text.slice(from, to));
    at = text.indexOf(opening, to + closing.length);
  }
  return found;
}

/** Blocks between fences that are closed. */
function fencesOf(text: string): { language: string; text: string }[] {
  const parts = text.split("```");
  return parts.flatMap((part, index) => {
    const [whole, language] = /^\n?([A-Za-z]+)\s/.exec(part) ?? [];
    const isBlock = index % 2 === 1 && index + 1 < parts.length;
    return isBlock && whole !== undefined && language !== undefined
      ? [{ language: language.toLowerCase(), text: part.slice(whole.length) }]
      : [];
  });
}

function callOf(text: string): { function: string; arguments: JsonObject } | { problem: string } {
  const form = 'Write {"name": "…", "arguments": {…}}';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: `the tool call is not JSON. ${form}` };
  }
  if (!isObject(value) || typeof value.name !== "string")
    return { problem: `the tool call names no tool. ${form}` };
  const given = value.arguments ?? {};
  if (!isObject(given)) return { problem: `“arguments” is not an object. ${form}` };
  return { function: value.name, arguments: given };
}

function inTags(tag: string): (text: string) => string {
  return (text) => `\n<${tag}>\n${text}\n</${tag}>\n`;
}

function fenced(text: string): string {
  return `\n\`\`\`result\n${text}\n\`\`\`\n`;
}

/** As verl-tool's `search_retrieval` and Search-R1 write it. */
function information(text: string): string {
  return `\n\n<information>${text.trim()}</information>\n\n`;
}
