import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { isObject, type JsonObject, parseExactJson } from "everturn/plugin";

/**
 * A row of a table. If it is not an object or has a number that JavaScript would change: its text, and the
 * reason.
 */
export type Row = { row: JsonObject } | { row?: undefined; text: string; reason: string };

/**
 * Reads the rows of a JSON file with a list, a single object, or JSON Lines. DuckDB does not read them,
 * because it rounds numbers in columns of mixed types. Throws Error for a list without an end, or with text
 * after its end.
 */
export function readJsonRows(file: string): Row[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8").replace(/^\uFEFF/, "");
  if (text.trimStart().startsWith("[")) return listedRows(text, file);
  const whole = rowOf(text);
  if (whole.row !== undefined) return [whole];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(rowOf);
}

/** Parses a text as a row. */
export function rowOf(text: string): Row {
  try {
    const value = parseExactJson(text);
    return isObject(value) ? { row: value } : { text, reason: "it is not an object" };
  } catch (error) {
    return { text, reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Parses each row of a JSON list from its own text, so that numbers keep their digits and a bad row does not
 * affect others.
 */
function listedRows(text: string, file: string): Row[] {
  const rows: Row[] = [];
  let depth = 0;
  let start = text.indexOf("[") + 1;
  let end = -1;
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (mark === "[" || mark === "{") depth++;
    else if (mark === "]" || mark === "}") depth--;
    const isLast = mark === "]" && depth === 0;
    if (!isLast && !(mark === "," && depth === 1)) continue;
    const item = text
      .slice(start, index)
      .trim()
      .replace(/\s*\n\s*/g, " ");
    const isEmptyList = isLast && rows.length === 0 && item === "";
    if (!isEmptyList) rows.push(rowOf(item));
    start = index + 1;
    if (!isLast) continue;
    end = start;
    break;
  }
  if (end < 0) throw new Error(`${file} is not valid JSON: its list has no end`);
  if (text.slice(end).trim() !== "") throw new Error(`${file} is not valid JSON: text follows its list`);
  return rows;
}
