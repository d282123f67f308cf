import { EverturnError } from "../errors/everturn-error.ts";
import { type InexactNumber, isExact } from "../json/exact-json.ts";
import { deepest } from "../json/nesting.ts";
import { placeAt } from "./place.ts";
import { child, type Pointer } from "./pointer.ts";
import { heldBy, inexactNumberAt, type Problem } from "./problem.ts";
import type { NodeOffsets, SourceDocument } from "./source-document.ts";

/** A parsed JSON text, or why it isn't JSON. */
export type ParsedJson =
  | { readonly document: SourceDocument; readonly problems: readonly Problem[] }
  | { readonly document?: undefined; readonly problems: readonly Problem[] };

interface Fault {
  readonly offset: number;
  readonly reason: string;
  readonly hint: string;
}

const tokenPattern = /[ \t\r\n]*(?:(["'])|([{}[\],:])|(true|false|null|-?[0-9A-Za-z+.-]+)|(\/[/*])|$)/y;
const notFinite = /^[-+]?(nan|inf|infinity)$/i;
const numberPattern = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

/** Parses JSON (RFC 8259) and keeps the position of each key and value. `file` is for messages. */
export function parseJson(source: string, file: string): ParsedJson {
  const walk = walkJson(source);
  if ("fault" in walk) {
    const { offset, reason, hint } = walk.fault;
    const place = placeAt(file, source, offset);
    const error = new EverturnError("JSON_SYNTAX", { at: place.text, reason, hint });
    return { problems: [{ place, error }] };
  }
  const problems: Problem[] = walk.duplicates.map(({ key, first, second }) => {
    const place = placeAt(file, source, second);
    const { line } = placeAt(file, source, first);
    return { place, error: new EverturnError("DUPLICATE_KEY", { at: place.text, key, line }) };
  });
  for (const { literal, offset, pointer } of walk.inexact)
    problems.push(inexactNumberAt(placeAt(file, source, offset), pointer, literal));
  const value: unknown = JSON.parse(source.replace(/^\uFEFF/, ""));
  return { document: { file, source, value, offsets: walk.offsets }, problems };
}

interface Duplicate {
  readonly key: string;
  readonly first: number;
  readonly second: number;
}

function walkJson(source: string) {
  const offsets = new Map<Pointer, NodeOffsets>();
  const duplicates: Duplicate[] = [];
  const inexact: (InexactNumber & { pointer: Pointer })[] = [];
  let at = source.startsWith("\uFEFF") ? 1 : 0;
  let depth = 0;
  let fault: Fault | undefined;

  const fail = (offset: number, reason: string, hint: string): false => {
    fault ??= { offset, reason, hint };
    return false;
  };
  const skipSpace = () => {
    while (/[ \t\r\n]/.test(source[at] ?? "")) at++;
    return at;
  };

  function value(pointer: Pointer, key?: number): boolean {
    const start = skipSpace();
    offsets.set(pointer, key === undefined ? { value: start } : { key, value: start });
    const first = source[start];
    if (first === "{" || first === "[") {
      if (depth === deepest)
        return fail(start, `it is nested more than ${deepest} levels deep`, "Write it flatter.");
      depth++;
      const isWhole = first === "{" ? members(pointer, start) : items(pointer, start);
      depth--;
      return isWhole;
    }
    if (first === '"') return text() !== undefined;
    return literal(start, pointer);
  }

  function text(): string | undefined {
    const start = at++;
    while (source[at] !== '"') {
      if (at >= source.length || source[at] === "\n") {
        fail(start, "this text isn't closed on its line", 'End it with ".');
        return undefined;
      }
      at += source[at] === "\\" ? 2 : 1;
    }
    at++;
    try {
      return JSON.parse(source.slice(start, at));
    } catch {
      fail(
        start,
        "this text holds a wrong escape or a control character",
        "Write \\\\ for a backslash, \\t for a tab.",
      );
      return undefined;
    }
  }

  function literal(start: number, pointer: Pointer): boolean {
    tokenPattern.lastIndex = start;
    const [, quote, mark, word, comment] = tokenPattern.exec(source) ?? [];
    if (word !== undefined && (/^(true|false|null)$/.test(word) || numberPattern.test(word))) {
      if (numberPattern.test(word) && !isExact(word)) inexact.push({ literal: word, offset: start, pointer });
      at += word.length;
      return true;
    }
    if (quote !== undefined) return fail(start, "text stands in single quotes", 'Use ".');
    if (comment !== undefined) return fail(start, "there is a comment", "JSON has none; remove it.");
    if (word !== undefined && notFinite.test(word))
      return fail(
        start,
        `JSON has no ${word}${heldBy(pointer)}`,
        "Write null, leave the key out, or put it in quotes.",
      );
    if (word !== undefined) return fail(start, `“${word}” is no JSON value`, "Put text in double quotes.");
    if (start >= source.length) return fail(start, "the text ends where a value is expected", "Complete it.");
    const found = mark ?? source[start];
    return fail(
      start,
      `“${found}” stands where a value is expected`,
      "Write a value, or remove the comma or colon before it.",
    );
  }

  function members(pointer: Pointer, open: number): boolean {
    at++;
    if (source[skipSpace()] === "}") return closed();
    while (true) {
      const start = skipSpace();
      if (source[start] !== '"') return member(start, open);
      const name = text();
      if (name === undefined) return false;
      const pointerOfMember = child(pointer, name);
      const first = offsets.get(pointerOfMember)?.key;
      if (first !== undefined) duplicates.push({ key: name, first, second: start });
      if (source[skipSpace()] !== ":") return fail(at, `a colon is missing after “${name}”`, "Add it.");
      at++;
      if (!value(pointerOfMember, start)) return false;
      const end = at;
      const next = source[skipSpace()];
      if (next === "}") return closed();
      if (next !== ",") return unseparated(end, open, "{");
      at++;
    }
  }

  function items(pointer: Pointer, open: number): boolean {
    at++;
    if (source[skipSpace()] === "]") return closed();
    for (let index = 0; ; index++) {
      if (source[skipSpace()] === "]") return fail(at, "there is a comma after the last item", "Remove it.");
      if (!value(child(pointer, index))) return false;
      const end = at;
      const next = source[skipSpace()];
      if (next === "]") return closed();
      if (next !== ",") return unseparated(end, open, "[");
      at++;
    }
  }

  const closed = (): true => {
    at++;
    return true;
  };
  function member(start: number, open: number): false {
    if (source[start] === "}") return fail(start, "there is a comma after the last member", "Remove it.");
    if (start >= source.length) return unclosed(open, "{");
    if (/[A-Za-z_$']/.test(source[start] ?? ""))
      return fail(start, "a key isn't in double quotes", 'Put it in ".');
    if (source[start] === ",") return fail(start, "there is a comma too many", "Remove it.");
    if (source[start] === "/") return fail(start, "there is a comment", "JSON has none; remove it.");
    return fail(start, `“${source[start]}” stands where a key is expected`, 'Write "key": value.');
  }
  const unclosed = (open: number, bracket: string): false =>
    fail(open, `this ${bracket} is never closed`, "Close it.");
  const unseparated = (end: number, open: number, bracket: string): false =>
    at >= source.length ? unclosed(open, bracket) : fail(end, "a comma is missing here", "Add it.");

  if (value("") && skipSpace() < source.length)
    fail(at, "something follows the end of the value", "Remove it.");
  return fault === undefined ? { offsets, duplicates, inexact } : { fault };
}
