import { isExact } from "../../base/json/exact-json.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import { givenTwice, inexact, spacesEnd } from "./json-text.ts";

/** Thrown for unreadable text. */
class Unreadable extends Error {}

const deepest = 100;
const names: Record<string, JsonValue> = {
  true: true,
  false: false,
  null: null,
  True: true,
  False: false,
  None: null,
};

/**
 * Reads arguments at an offset in Gemma's notation, `{city:<|"|>Rome<|"|>,days:3}`, with `quote` around texts.
 * Returns them with where they end, or explains what is wrong with them.
 */
export function gemmaArguments(
  text: string,
  from: number,
  quote: string,
): { given: JsonObject; end: number; wrong?: undefined } | { wrong: string } {
  let at = from;
  try {
    if (!takes("{")) fail('"{" is missing');
    return { given: object(0), end: at };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { wrong: error.message };
  }

  function fail(wrong: string): never {
    throw new Unreadable(`${wrong} at “${text.slice(at, at + 20)}”`);
  }

  function takes(sign: string): boolean {
    at = spacesEnd(text, at);
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  }

  /** A text ends with the quote that a delimiter follows. Other quotes are part of it. */
  function quoted(): string {
    let end = text.indexOf(quote, at);
    while (end >= 0 && !",:}]".includes(text[spacesEnd(text, end + quote.length)] ?? "-"))
      end = text.indexOf(quote, end + quote.length);
    if (end < 0) fail("a text is not closed");
    const found = text.slice(at, end);
    at = end + quote.length;
    return found;
  }

  /** The text up to one of some delimiters. */
  function bare(pattern: RegExp): string {
    at = spacesEnd(text, at);
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(text) ?? [];
    at += found.length;
    return found.trim();
  }

  function value(depth: number): JsonValue {
    if (depth > deepest) fail(`values are nested deeper than ${deepest} levels`);
    if (takes(quote)) return quoted();
    if (takes("{")) return object(depth + 1);
    if (takes("[")) return list(depth + 1);
    if (text[at] === '"') fail(`a text is not written ${quote}…${quote}`);
    const word = bare(/[^,{}[\]]*/y);
    if (Object.hasOwn(names, word)) return names[word] ?? null;
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return numberOf(word);
    return word === "" ? fail("a value is missing") : word;
  }

  function numberOf(word: string): number {
    if (!isExact(word)) throw new Unreadable(inexact(word));
    return Number(word);
  }

  function object(depth: number): JsonObject {
    const entries = new Map<string, JsonValue>();
    while (!takes("}")) {
      if (text[at] === '"') fail("a name is not written without quotes");
      const key = takes(quote) ? quoted() : bare(/[^:,{}[\]]*/y);
      if (key === "" || !takes(":")) fail("an argument is not written name:value");
      if (entries.has(key)) throw new Unreadable(givenTwice(key));
      entries.set(key, value(depth));
      if (takes(",")) continue;
      if (takes("}")) break;
      fail('"," or "}" is missing');
    }
    return Object.fromEntries(entries);
  }

  function list(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    while (!takes("]")) {
      items.push(value(depth));
      if (takes(",")) continue;
      if (takes("]")) break;
      fail('"," or "]" is missing');
    }
    return items;
  }
}

/** A value in Gemma's notation, with its keys in order. */
export function gemmaText(value: JsonValue, quote: string): string {
  if (typeof value === "string") return `${quote}${value}${quote}`;
  if (Array.isArray(value)) return `[${value.map((one) => gemmaText(one, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, one]) => `${key}:${gemmaText(one, quote)}`)
    .join(",")}}`;
}
