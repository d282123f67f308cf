import { isExact } from "../../base/json/exact-json.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import { givenTwice, inexact, type Read } from "./json-text.ts";

/** Thrown for text that can't be read as Python, with the reason. */
class Unreadable extends Error {}
/** Thrown for text that is Python but would lose part of its meaning. */
class Lossy extends Unreadable {}

const deepest = 100;
const names: Record<string, JsonValue> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const escapes: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "0": "\0",
};

/**
 * Reads calls in Python's syntax from an offset, as `[f(a=1), g()]` or one after the other. Arguments are named, and
 * values are literals. The first unreadable call ends the sequence with its problem.
 */
export function pythonCalls(text: string, from = 0): { calls: ReadCall[]; end: number } {
  const calls: ReadCall[] = [];
  const reader = pythonReader(text, from);
  let start = from;
  try {
    const isList = reader.takes("[");
    for (let more = !(isList && reader.takes("]")); more; ) {
      start = reader.place();
      calls.push(reader.call());
      more = reader.takes(",") || reader.takes(";");
      if (isList && reader.takes("]")) break;
      if (isList && !more) {
        calls.pop(); // the call before the list breaks off
        reader.fail('"," or "]" is missing');
      }
      more = isList || reader.isName();
    }
    return { calls, end: reader.place() };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { calls: [...calls, { text: text.slice(start), problem: error.message }], end: text.length };
  }
}

/** The value of a Python literal, or what would be lost of it; undefined if the text is not a literal. */
export function pythonLiteral(text: string): Read | undefined {
  const reader = pythonReader(text, 0);
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? { value } : undefined;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return error instanceof Lossy ? { wrong: error.message } : undefined;
  }
}

/** A call in Python's syntax: `f(a=1, b="x")`. */
export function pythonText(name: string, given: JsonObject): string {
  const written = Object.entries(given).map(([key, value]) => `${key}=${valueText(value)}`);
  return `${name}(${written.join(", ")})`;
}

function valueText(value: JsonValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${valueText(one)}`);
  return `{${entries.join(", ")}}`;
}

function pythonReader(text: string, from: number) {
  let at = from;

  function fail(wrong: string): never {
    throw new Unreadable(`${wrong} at “${text.slice(at, at + 20)}”`);
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) at += found.length;
    return found;
  }

  function skip(): void {
    do match(/\s+/y);
    while (match(/#[^\n]*/y) !== undefined);
  }

  function takes(sign: string): boolean {
    skip();
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  }

  function isName(): boolean {
    skip();
    return /[\p{L}_]/uy.test(text.slice(at, at + 2));
  }

  const name = () =>
    (isName() ? match(/[\p{L}_][\p{L}\p{N}_.-]*/uy) : undefined) ?? fail("a name is missing");

  function call(): ReadCall {
    const called = name();
    if (!takes("(")) fail('"(" is missing');
    const given = new Map<string, JsonValue>();
    while (!takes(")")) {
      const key = isName() ? match(/[\p{L}_][\p{L}\p{N}_]*/uy) : undefined;
      if (key === undefined || !takes("=")) fail("an argument is not written name=value");
      if (given.has(key)) throw new Lossy(givenTwice(key));
      given.set(key, value(0));
      if (takes(",")) continue;
      if (takes(")")) break;
      fail('"," or ")" is missing');
    }
    return { name: called, arguments: Object.fromEntries(given) };
  }

  function value(depth: number): JsonValue {
    if (depth > deepest) fail(`values are nested deeper than ${deepest} levels`);
    skip();
    const one = text[at];
    if (one === "[" || one === "(") return list(one === "[" ? "]" : ")", depth);
    if (one === "{") return object(depth);
    if (one === '"' || one === "'" || /^[rRbBuU]['"]/.test(text.slice(at, at + 2))) return strings();
    const number = match(/[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/y);
    if (number !== undefined) return numberOf(number);
    const word = match(/[A-Za-z]+/y);
    const named = word !== undefined && Object.hasOwn(names, word) ? names[word] : undefined;
    return named === undefined ? fail("a value is no literal") : named;
  }

  function numberOf(written: string): number {
    const sign = written.startsWith("-") ? -1 : 1;
    const digits = written.replaceAll("_", "").replace(/^[+-]/, "");
    const isHexadecimal = /^0x/i.test(digits);
    if (!isExact(isHexadecimal ? String(BigInt(digits)) : digits)) throw new Lossy(inexact(written));
    if (/^0\d*[1-9]\d*$/.test(digits))
      throw new Lossy(`the number ${written} begins with 0: write it as a text, in quotes, or without`);
    return sign * Number(digits) + 0; // JSON has no -0
  }

  function list(close: string, depth: number): JsonValue {
    at++;
    const items: JsonValue[] = [];
    let commas = 0;
    while (!takes(close)) {
      items.push(value(depth + 1));
      if (takes(",")) commas++;
      else if (takes(close)) break;
      else fail(`"," or "${close}" is missing`);
    }
    const [only] = items;
    return close === ")" && items.length === 1 && commas === 0 && only !== undefined ? only : items;
  }

  function object(depth: number): JsonObject {
    at++;
    const entries = new Map<string, JsonValue>();
    while (!takes("}")) {
      const key = value(depth + 1);
      if (typeof key === "object" && key !== null) fail("a key is no text");
      if (!takes(":")) fail('":" is missing');
      if (entries.has(String(key))) throw new Lossy(givenTwice(String(key)));
      entries.set(String(key), value(depth + 1));
      if (takes(",")) continue;
      if (takes("}")) break;
      fail('"," or "}" is missing');
    }
    return Object.fromEntries(entries);
  }

  /** One text, or several adjacent ones. */
  function strings(): string {
    let whole = "";
    do {
      whole += string();
      skip();
    } while (text[at] === '"' || text[at] === "'");
    return whole;
  }

  function string(): string {
    const prefix = match(/[rRbBuU]/y) ?? "";
    const one = text[at] ?? "";
    const quote = text.startsWith(one.repeat(3), at) ? one.repeat(3) : one;
    at += quote.length;
    const parts: string[] = [];
    for (;;) {
      const plain = match(/[^\\'"\n]+/y);
      if (plain !== undefined) parts.push(plain);
      else if (text.startsWith(quote, at)) break;
      else if (at >= text.length || (text[at] === "\n" && quote.length === 1)) fail("a text is not closed");
      else if (text[at] === "\\" && prefix.toLowerCase() !== "r") parts.push(escaped());
      else parts.push(text[at++] ?? "");
    }
    at += quote.length;
    return parts.join("");
  }

  function escaped(): string {
    at++;
    const one = text[at++] ?? "";
    if (one === "\n") return "";
    const digits = { x: 2, u: 4, U: 8 }[one];
    if (digits === undefined) return escapes[one] ?? ("\\'\"".includes(one) ? one : `\\${one}`);
    const code = text.slice(at, at + digits);
    if (!new RegExp(`^[\\da-fA-F]{${digits}}$`).test(code)) fail("an escape is no character");
    const point = Number.parseInt(code, 16);
    if (point > 0x10ffff) fail("an escape is no character");
    at += digits;
    return String.fromCodePoint(point);
  }

  const isAtEnd = () => {
    skip();
    return at >= text.length;
  };

  return { takes, isName, call, value, fail, isAtEnd, place: () => at };
}
