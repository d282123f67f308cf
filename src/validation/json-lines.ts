import type { ValidateFunction } from "ajv";
import { problemsOf } from "./findings.ts";
import { parseJson } from "./parse-json.ts";
import { displayPath } from "./place.ts";
import { type Problem, refusal } from "./problem.ts";

const marker = Symbol.for("everturn.row");

/** Where a row that `parseJsonLines` gave stands in its file; undefined for other rows. */
export function rowPlace(row: object): { file: string; line: number } | undefined {
  return Reflect.get(row, marker);
}

/** When this many things are wrong, the rest of the file isn't looked at. */
const enough = 20;

/**
 * The rows of a JSON Lines text, blank lines skipped; each knows its line (`rowPlace`). `path` is for messages.
 * Throws WRONG_CONFIGURATION with file, line and column of each thing wrong.
 */
export function parseJsonLines<Row extends object>(
  text: string,
  path: string,
  validate: ValidateFunction<Row>,
): Row[] {
  const file = displayPath(path);
  const rows: Row[] = [];
  const problems: Problem[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (line.trim() === "" || problems.length >= enough) continue;
    const row = parsed(line);
    if (validate(row)) rows.push(Object.defineProperty(row, marker, { value: { file, line: index + 1 } }));
    else problems.push(...rowProblems(line, index, file, validate));
  }
  if (problems.length > 0) throw refusal(file, problems);
  return rows;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Parses a bad row again, keeping positions; the blank lines before it make its line number come out right. */
function rowProblems(
  line: string,
  index: number,
  file: string,
  validate: ValidateFunction,
): readonly Problem[] {
  const { document, problems } = parseJson("\n".repeat(index) + line, file);
  if (document === undefined || validate(document.value)) return problems;
  return problemsOf(validate.errors ?? [], document, { base: "", whole: "the row" });
}
