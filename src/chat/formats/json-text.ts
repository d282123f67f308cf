import { inexactNumber } from "../../base/json/exact-json.ts";
import { repeatedKey } from "../../base/json/repeated-key.ts";
import { stringEnd } from "../../base/json/string-end.ts";
import type { JsonValue } from "../../contracts/json.ts";

/** How deep a model's JSON may nest. It is written as JSON again, which recurses. */
const deepest = 100;

/** A value that a model wrote, or why it is not acceptable. */
export type Read<Value extends JsonValue = JsonValue> =
  | { value: Value; wrong?: undefined }
  | { value?: undefined; wrong: string };

/**
 * Reads a JSON text exactly. Problems are a text that is not JSON or nests deeper than 100 levels (both reported as
 * `invalid`), a number that a double would change, and a key that an object repeats.
 */
export function readJson(text: string, invalid: string): Read {
  if (isDeep(text)) return { wrong: invalid };
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return { wrong: invalid };
  }
  const number = inexactNumber(text);
  if (number !== undefined) return { wrong: inexact(number.literal) };
  const key = repeatedKey(text);
  return key === undefined ? { value } : { wrong: givenTwice(key) };
}

/** The message to a model about a number that JavaScript would change. */
export function inexact(literal: string): string {
  return `the number ${shortened(literal)} cannot be kept exactly: write it as a text, in quotes, or with at most 15 digits`;
}

/** The message to a model about a repeated key or argument. */
export function givenTwice(key: string): string {
  return `"${shortened(key)}" is given twice`;
}

/** The beginning of a model's text, short enough to quote. */
export function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** JSON as Python and chat templates write it, with a space after each comma and colon. */
export function jsonText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one)}`)
    .join(", ")}}`;
}

/**
 * Where the object or list at an offset ends, after optional spaces; -1 if none begins there, or if it does not end.
 */
export function jsonEnd(text: string, from: number): number {
  const start = spacesEnd(text, from);
  if (text[start] !== "{" && text[start] !== "[") return -1;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const one = text[at];
    if (one === '"') {
      at = stringEnd(text, at + 1);
      if (at < 0) return -1;
    } else if (one === "{" || one === "[") depth++;
    else if ((one === "}" || one === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

/** A sequence of objects and lists, separated by spaces, commas or semicolons. Anything else ends it. */
export function jsonTexts(text: string, from = 0): { texts: string[]; end: number } {
  const texts: string[] = [];
  for (let end = from; ; ) {
    const start = spacesEnd(text, end, ",;");
    const next = jsonEnd(text, start);
    if (next < 0) return { texts, end: start < text.length ? start : end };
    texts.push(text.slice(start, next));
    end = next;
  }
}

/** The texts of the items of a JSON list; undefined if the text is not a list. */
export function jsonItems(text: string): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  const items: string[] = [];
  let [start, depth] = [1, 0];
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === '"') {
      at = stringEnd(text, at + 1);
      if (at < 0) return undefined;
    } else if (one === "{" || one === "[") depth++;
    else if (one === "}" || one === "]") depth--;
    if ((one === "," && depth === 1) || depth === 0) {
      items.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return items.length === 1 && items[0] === "" ? [] : items;
}

/** The first offset from `at` without a space or a character of `others`. */
export function spacesEnd(text: string, at: number, others = ""): number {
  let end = at;
  while (end < text.length && (" \n\t\r".includes(text[end] ?? "-") || others.includes(text[end] ?? "-")))
    end++;
  return end;
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === '"') {
      at = stringEnd(text, at + 1);
      if (at < 0) return false; // JSON.parse reports the problem
    } else if (one === "{" || one === "[") {
      if (++depth > deepest) return true;
    } else if (one === "}" || one === "]") depth--;
  }
  return false;
}
