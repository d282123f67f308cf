import type { JsonValue } from "everturn/plugin";
import type { QueryOutcome, SqlValue } from "everturn/sql";

type Rows = Extract<QueryOutcome, { kind: "rows" }>;

export interface Telling {
  format: "text" | "json";
  /** The maximum characters of the answer. */
  characters: number;
}

/** The maximum characters of a value. Longer values are cut. */
const longestValue = 500;

/**
 * Formats a result for the model. Each value has a fixed form. The result is cut after a row, with a note if
 * there are more.
 */
export function tellRows(result: Rows, { format, characters }: Telling): string {
  const lines = result.rows.map((row) =>
    format === "json" ? JSON.stringify(row.map(jsonOf)) : row.map(textOf).join(" | "),
  );
  const head = format === "json" ? JSON.stringify(result.columns) : result.columns.map(quoted).join(" | ");
  let length = head.length;
  const fit = lines.findIndex((line) => {
    length += line.length + 1;
    return length > characters;
  });
  const told = fit < 0 ? lines : lines.slice(0, fit);
  const isCut = fit >= 0 || result.more !== undefined;
  const note = noteOf(told.length, isCut);
  if (format === "text") return [head, ...told, note].join("\n");
  const more = isCut ? `, "note": ${JSON.stringify(note)}` : "";
  return `{"columns": ${head}, "rows": [${told.join(", ")}]${more}}`;
}

function noteOf(rows: number, isCut: boolean): string {
  const count = rows === 1 ? "1 row" : `${rows} rows`;
  return isCut
    ? `(${count} shown, there are more: narrow the query, count, or take fewer columns)`
    : `(${count})`;
}

/**
 * Formats a value: NULL, true, 42, 0.5, 2007-01-01, x'00ff'. A text is a JSON string if it would look like
 * one of these or like several values.
 */
export function textOf(value: SqlValue): string {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return blobText(value);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "object") return value.decimal;
  return Object.is(value, -0) ? "0" : String(value);
}

function quoted(text: string): string {
  const isPlain =
    /^[^\s"|][^"|\p{Cc}]*$/u.test(text) &&
    !/\s$|^(null|true|false|x'.*|[-+]?[\d.]+(e[-+]?\d+)?)$/iu.test(text);
  return isPlain && text.length <= longestValue ? text : shortened(JSON.stringify(text));
}

/**
 * Converts a value to JSON. Numbers that JSON parsers would change become texts of their digits, and bytes
 * x'…'.
 */
export function jsonOf(value: SqlValue): JsonValue {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return blobText(value);
  if (typeof value === "object" && value !== null) return value.decimal;
  return typeof value === "string" ? shortened(value) : value;
}

function blobText(bytes: Uint8Array): string {
  const shown = Buffer.from(bytes.subarray(0, 32)).toString("hex");
  return bytes.length <= 32 ? `x'${shown}'` : `x'${shown}…' (${bytes.length} bytes)`;
}

function shortened(text: string): string {
  if (text.length <= longestValue) return text;
  const begin = text.slice(0, longestValue).replace(/[\uD800-\uDBFF]$/, "");
  return `${begin}… (${text.length} characters)`;
}
