import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { rowPlace } from "../../../base/validation/json-lines.ts";
import type { Place } from "../../../base/validation/place.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { RowCount } from "./count-rows.ts";

/** The number of rows that a message lists when many have the same problem. */
const named = 3;

/** The place of a row. If a row does not know its place, this is the data set. */
export function placeOfRow(row: object | undefined, dataset: string): Place {
  const known = row === undefined ? undefined : rowPlace(row);
  if (known === undefined) return { file: dataset, line: 0, column: 0, text: dataset };
  const { file, line } = known;
  return { file, line, column: 1, text: `${file}:${line}` };
}

/**
 * Returns the problems of counted rows, each distinct problem once. `name` is the data set's name in the
 * pipeline, `rows` is the noun for its rows, and `need` describes what rows that are too long need.
 */
export function rowProblems<Row extends object>(
  count: RowCount<Row>,
  { name, rows, need }: { name: string; rows: string; need: string },
): Problem[] {
  const share = (number: number, isAtLeast: boolean) =>
    `${isAtLeast ? "at least " : ""}${number} of the ${count.rows} ${rows} of ${name}`;
  const problems = [...count.refused].map(([reason, bad]): Problem => {
    const place = placeOfRow(bad[0], name);
    const params = {
      at: place.text,
      rows: share(bad.length, count.counted < count.rows),
      list: listOf(bad),
      reason,
    };
    return { place, error: new EverturnError("ROWS_NOT_FRAMED", params) };
  });
  const { tooLong, mayBeMore } = count;
  const [first] = tooLong;
  if (first === undefined) return problems;
  const place = placeOfRow(first.row, name);
  const tokensByRow = new Map(tooLong.map(({ row, tokens }) => [row, tokens]));
  const list = listOf([...tokensByRow.keys()], (row) => ` (${tokensByRow.get(row)} tokens)`);
  const params = {
    at: place.text,
    rows: share(tooLong.length, mayBeMore),
    need: `${tooLong.length === 1 ? "has" : "have"} ${need}`,
    list,
  };
  return [...problems, { place, error: new EverturnError("ROWS_TOO_LONG", params) }];
}

/**
 * Lists the first rows by line, each with the text from `says`: `line 3 (900 tokens), line 7 (812 tokens) and
 * 2 more`.
 */
function listOf<Row extends object>(rows: readonly Row[], says: (row: Row) => string = () => ""): string {
  const shown = rows.slice(0, named).map((row) => {
    const line = rowPlace(row)?.line;
    return `${line === undefined ? "a row" : `line ${line}`}${says(row)}`;
  });
  const more = rows.length - shown.length;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}
