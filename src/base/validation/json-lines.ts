import type { ErrorObject } from "ajv";
import { parseExactJson } from "../json/exact-json.ts";
import { type Finding, findingsOf } from "./findings.ts";
import { parseJson } from "./parse-json.ts";
import { displayPath } from "./place.ts";
import { type Problem, refusal } from "./problem.ts";
import { placeOf } from "./source-document.ts";

const marker = Symbol.for("everturn.row");

/** The place of a row from `parseJsonLines` in its file; undefined for other rows. */
export function rowPlace(row: object): { file: string; line: number } | undefined {
  return Reflect.get(row, marker);
}

/** Gives `made` the place of the row that it was made from, and returns it. */
export function standsAs<Made extends object>(row: object, made: Made): Made {
  return Object.defineProperty(made, marker, { value: rowPlace(row) });
}

const leftOut = Symbol.for("everturn.leftOut");

/**
 * The problems of rows that `parseJsonLines` left out because of `skips`, each with its place; none for other lists.
 */
export function leftOutRows(rows: readonly object[]): { count: number; problems: readonly string[] } {
  return Reflect.get(rows, leftOut) ?? { count: 0, problems: [] };
}

/** Checks whether a row is a `Row`, and keeps the errors if it is not. */
export interface RowCheck<Row> {
  (row: unknown): row is Row;
  errors?: ErrorObject[] | null;
}

/** The most problems reported per file. */
const enough = 20;

/** A problem in rows: the first row that has it, and how many others do. */
interface Fault {
  line: string;
  index: number;
  finding: Finding;
  more: number;
}

/**
 * Parses a JSON Lines text and skips blank lines. Each row knows its line (`rowPlace`). `path` is for messages.
 * Throws WRONG_CONFIGURATION with the file, line and column of each problem. A problem that many rows share is
 * listed once, with their number. Each row is checked after `prepare`, which by default returns it unchanged. With
 * `skips`, faulty rows are left out instead (`leftOutRows`) as long as one row is valid. `skipped` are problems of
 * rows that were left out before. With `whole`, the text is one row, which may have several lines.
 */
export function parseJsonLines<Row extends object>(
  text: string,
  path: string,
  validate: RowCheck<Row>,
  options: {
    skips?: boolean;
    prepare?: (row: unknown) => unknown;
    skipped?: readonly string[];
    whole?: boolean;
  } = {},
): Row[] {
  const { skips = false, prepare = (row) => row, skipped = [], whole = false } = options;
  const file = displayPath(path);
  const rows: Row[] = [];
  const unreadable: Problem[] = [];
  const faults = new Map<string, Fault>();
  let bad = 0;
  const source = text.replace(/^\uFEFF/, "");
  for (const [index, line] of (whole ? [source] : source.split("\n")).entries()) {
    if (line.trim() === "") continue;
    const row = parsed(line, prepare);
    if (row === undefined) {
      bad++;
      if (unreadable.length < enough) unreadable.push(...positioned(line, index, file).problems);
    } else if (validate(row)) {
      rows.push(Object.defineProperty(row, marker, { value: { file, line: index + 1 } }));
    } else {
      bad++;
      for (const finding of findingsOf(validate.errors ?? [], { base: "", whole: "the row" })) {
        const key = keyOf(finding);
        const known = faults.get(key);
        if (known === undefined) faults.set(key, { line, index, finding, more: 0 });
        else known.more++;
      }
    }
  }
  const problems = [
    ...unreadable,
    ...[...faults.values()].slice(0, enough).flatMap((fault) => problemsOf(fault, file)),
  ];
  if (problems.length === 0 && skipped.length === 0) return rows;
  if (problems.length > 0 && (!skips || rows.length === 0)) throw refusal(file, problems);
  const told = [...skipped.slice(0, enough), ...problems.map(({ error }) => error.message)];
  const value = { count: bad + skipped.length, problems: [...new Set(told)] };
  return Object.defineProperty(rows, leftOut, { value });
}

function parsed(line: string, prepare: (row: unknown) => unknown): unknown {
  try {
    return prepare(parseExactJson(line));
  } catch {
    return undefined;
  }
}

/** Parses a row with positions. Blank lines before it make its line number correct. */
function positioned(line: string, index: number, file: string) {
  return parseJson("\n".repeat(index) + line, file);
}

/** A key that is equal for the same mistake in other rows, whatever the value. */
function keyOf({ pointer, error }: Finding): string {
  const { code, params } = error("");
  const { actual: _, where: __, ...same } = params;
  return JSON.stringify([code, pointer.replace(/\/\d+(?=\/|$)/g, "/*"), same]);
}

function problemsOf({ line, index, finding, more }: Fault, file: string): readonly Problem[] {
  const { document, problems } = positioned(line, index, file);
  if (document === undefined) return problems;
  const place = placeOf(document, finding.pointer, finding.part);
  const rows = more === 0 ? "" : ` and in ${more} more ${more === 1 ? "row" : "rows"}`;
  return [...problems, { place, error: finding.error(place.text + rows) }];
}
