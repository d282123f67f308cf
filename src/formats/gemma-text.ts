import type { JsonObject, JsonValue } from "../contracts/json.ts";

/** What can't be read. */
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

/** Arguments as Gemma writes them, `{city:<|"|>Rome<|"|>,days:3}`, with `quote` around texts; or what is wrong with them. */
export function gemmaArguments(text: string, quote: string): JsonObject | string {
  let at = 0;
  try {
    if (!takes("{")) fail('"{" is missing');
    const given = object(0);
    skip();
    return at === text.length ? given : fail('nothing may follow the last "}"');
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return error.message;
  }

  function fail(wrong: string): never {
    throw new Unreadable(`${wrong} at “${text.slice(at, at + 20)}”`);
  }

  function skip(): void {
    while (at < text.length && " \n\t\r".includes(text[at] ?? "-")) at++;
  }

  function takes(sign: string): boolean {
    skip();
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  }

  function quoted(): string {
    const end = text.indexOf(quote, at);
    if (end < 0) fail("a text is not closed");
    const found = text.slice(at, end);
    at = end + quote.length;
    return found;
  }

  /** What stands up to one of some signs. */
  function bare(pattern: RegExp): string {
    skip();
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
    const word = bare(/[^,{}[\]]*/y);
    if (Object.hasOwn(names, word)) return names[word] ?? null;
    if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(word)) return Number(word);
    return word === "" ? fail("a value is missing") : word;
  }

  function object(depth: number): JsonObject {
    const entries: [string, JsonValue][] = [];
    while (!takes("}")) {
      const key = takes(quote) ? quoted() : bare(/[^:,{}[\]]*/y);
      if (key === "" || !takes(":")) fail("an argument is not written name:value");
      entries.push([key, value(depth)]);
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

/** A value as Gemma writes it, its keys in order. */
export function gemmaText(value: JsonValue, quote: string): string {
  if (typeof value === "string") return `${quote}${value}${quote}`;
  if (Array.isArray(value)) return `[${value.map((one) => gemmaText(one, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, one]) => `${key}:${gemmaText(one, quote)}`)
    .join(",")}}`;
}
