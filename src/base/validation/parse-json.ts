import { getLocation, type JSONPath, type JSONVisitor, printParseErrorCode, visit } from "jsonc-parser";
import { EverturnError } from "../errors/everturn-error.ts";
import { type InexactNumber, isExact } from "../json/exact-json.ts";
import { deepest } from "../json/nesting.ts";
import { placeAt } from "./place.ts";
import { child, type Pointer } from "./pointer.ts";
import { heldBy, inexactNumberAt, type Problem } from "./problem.ts";
import type { NodeOffsets, SourceDocument } from "./source-document.ts";

/** A parsed JSON text, or the reason why it isn't JSON. */
export type ParsedJson =
  | { readonly document: SourceDocument; readonly problems: readonly Problem[] }
  | { readonly document?: undefined; readonly problems: readonly Problem[] };

/** Parses JSON (RFC 8259) and keeps the position of each key and value. `file` is for messages. */
export function parseJson(source: string, file: string): ParsedJson {
  const text = source.replace(/^\uFEFF/, " ");
  const walk = walkJson(text);
  if (walk instanceof FaultFound) {
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
  const value: unknown = JSON.parse(text);
  return { document: { file, source, value, offsets: walk.offsets }, problems };
}

interface Fault {
  readonly offset: number;
  readonly reason: string;
  readonly hint: string;
}

/** Ends a walk at its first fault. */
class FaultFound extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.reason);
    this.fault = fault;
  }
}

interface Duplicate {
  readonly key: string;
  readonly first: number;
  readonly second: number;
}

/**
 * Returns the offsets of a text's keys and values, its duplicate keys and its inexact numbers, or its first fault.
 */
function walkJson(text: string) {
  const offsets = new Map<Pointer, NodeOffsets>();
  const duplicates: Duplicate[] = [];
  const inexact: (InexactNumber & { pointer: Pointer })[] = [];
  const openBrackets: number[] = [];
  let key: { readonly name: string; readonly offset: number } | undefined;

  const beginValue = (offset: number, path: JSONPath): Pointer => {
    const pointer = pointerTo(path);
    offsets.set(pointer, key === undefined ? { value: offset } : { key: key.offset, value: offset });
    key = undefined;
    return pointer;
  };
  const open: JSONVisitor["onObjectBegin"] = (offset, _length, _line, _column, path) => {
    if (openBrackets.length === deepest) {
      const reason = `it is nested more than ${deepest} levels deep`;
      throw new FaultFound({ offset, reason, hint: "Write it flatter." });
    }
    beginValue(offset, path());
    openBrackets.push(offset);
  };
  const close: JSONVisitor["onObjectEnd"] = (_offset, length) => {
    if (length > 0) openBrackets.pop(); // if 0, the text ends here and onError follows
  };
  const visitor: JSONVisitor = {
    onObjectBegin: open,
    onObjectEnd: close,
    onArrayBegin: open,
    onArrayEnd: close,
    onObjectProperty(name, offset, _length, _line, _column, path) {
      const first = offsets.get(child(pointerTo(path()), name))?.key;
      if (first !== undefined) duplicates.push({ key: name, first, second: offset });
      key = { name, offset };
    },
    onLiteralValue(value: unknown, offset, length, _line, _column, path) {
      const pointer = beginValue(offset, path());
      const literal = text.slice(offset, offset + length);
      if (typeof value === "number" && !isExact(literal)) inexact.push({ literal, offset, pointer });
    },
    onError(code, offset) {
      const isUnclosed = printParseErrorCode(code) === "UnexpectedEndOfString";
      throw new FaultFound(faultAt(text, offset, isUnclosed, openBrackets.at(-1), key?.name));
    },
  };
  try {
    visit(text, visitor, { disallowComments: true });
  } catch (error) {
    if (error instanceof FaultFound) return error;
    throw error;
  }
  return { offsets, duplicates, inexact };
}

function pointerTo(path: JSONPath): Pointer {
  return path.reduce<Pointer>((pointer, key) => child(pointer, key), "");
}

const notFinite = /^[-+]?(nan|inf|infinity)$/i;

/**
 * Describes a text's first fault. `bracket` is the offset of the innermost open bracket, `key` a key without its
 * value.
 */
function faultAt(text: string, offset: number, isUnclosed: boolean, bracket?: number, key?: string): Fault {
  const fault = (reason: string, hint: string, at = offset): Fault => ({ offset: at, reason, hint });
  const before = text.slice(0, offset).trimEnd();
  const last = before.at(-1) ?? "";
  const found = text[offset] ?? "";
  const holder = text[bracket ?? -1];
  const expectsKey = last === "{" || (last === "," && holder === "{");
  const expectsValue = last === "" || last === ":" || last === "[" || (last === "," && holder === "[");
  const begun = /[\w+.-]*$/.exec(text.slice(Math.max(0, offset - 100), offset))?.[0] ?? "";
  const rest = /^[\w+.-]*/.exec(text.slice(offset))?.[0] ?? "";

  if (key !== undefined && last !== ":") return fault(`a colon is missing after “${key}”`, "Add it.");
  if (found === "" && bracket !== undefined && !expectsValue)
    return fault(`this ${holder} is never closed`, "Close it.", bracket);
  if (begun !== "" && rest !== "")
    return fault(
      `“${begun}${rest}” is not a JSON value`,
      "Put text in double quotes.",
      offset - begun.length,
    );
  if (!expectsKey && !expectsValue)
    return bracket === undefined
      ? fault("something follows the end of the value", "Remove it.")
      : fault("a comma is missing here", "Add it.", before.length);

  if (found === '"')
    return isUnclosed
      ? fault("this text isn't closed on its line", 'End it with ".')
      : fault(
          "this text holds a wrong escape or a control character",
          "Write \\\\ for a backslash, \\t for a tab.",
        );
  if (/^\/[/*]/.test(text.slice(offset, offset + 2)))
    return fault("there is a comment", "JSON has none; remove it.");

  if (expectsKey) {
    if (found === "}") return fault("there is a comma after the last member", "Remove it.");
    if (found === ",") return fault("there is a comma too many", "Remove it.");
    if (/[A-Za-z_$']/.test(found)) return fault("a key isn't in double quotes", 'Put it in ".');
    return fault(`“${found}” stands where a key is expected`, 'Write "key": value.');
  }
  if (found === "") return fault("the text ends where a value is expected", "Complete it.");
  if (found === "]" && last === ",") return fault("there is a comma after the last item", "Remove it.");
  if (found === "'") return fault("text is in single quotes", 'Use ".');
  if (notFinite.test(rest)) {
    const holds = heldBy(pointerTo(getLocation(text, offset).path));
    return fault(`JSON has no ${rest}${holds}`, "Write null, leave the key out, or put it in quotes.");
  }
  if (rest !== "") return fault(`“${rest}” is not a JSON value`, "Put text in double quotes.");
  return fault(
    `“${found}” stands where a value is expected`,
    "Write a value, or remove the comma or colon before it.",
  );
}
