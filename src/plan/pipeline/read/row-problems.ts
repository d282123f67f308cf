import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { rowPlace } from "../../../base/validation/json-lines.ts";
import type { Place } from "../../../base/validation/place.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { RowCount } from "./count-rows.ts";

/** So many rows are named where many have the same trouble. */
const named = 3;

/** Where a row stands; a data set whose rows don't know it is named itself. */
export function placeOfRow(row: object | undefined, dataset: string): Place {
  const known = row === undefined ? undefined : rowPlace(row);
  if (known === undefined) return { file: dataset, line: 0, column: 0, text: dataset };
  const { file, line } = known;
  return { file, line, column: 1, text: `${file}:${line}` };
}

/**
 * What is wrong with the rows of a data set that were counted, the same thing once. `name`: as the pipeline calls it;
 * `rows`: what its rows are; `need`: what those that are too long lack.
 */
export function rowProblems<Row extends object>(
  count: RowCount<Row>,
  { name, rows, need }: { name: string; rows: string; need: string },
): Problem[] {
  const share = (number: number, mayBeMore: boolean) =>
    `${mayBeMore ? "at least " : ""}${number} of the ${count.rows} ${rows} of ${name}`;
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
  const tokens = new Map(tooLong.map(({ row, tokens }) => [row, tokens]));
  const list = listOf([...tokens.keys()], (row) => ` (${tokens.get(row)} tokens)`);
  const params = {
    at: place.text,
    rows: share(tooLong.length, mayBeMore),
    need: `${tooLong.length === 1 ? "has" : "have"} ${need}`,
    list,
  };
  return [...problems, { place, error: new EverturnError("ROWS_TOO_LONG", params) }];
}

/** The first of some rows by their lines, with what is said of each: `line 3 (900 tokens), line 7 (812 tokens) and 2 more`. */
function listOf<Row extends object>(rows: readonly Row[], says: (row: Row) => string = () => ""): string {
  const shown = rows.slice(0, named).map((row) => {
    const line = rowPlace(row)?.line;
    return `${line === undefined ? "a row" : `line ${line}`}${says(row)}`;
  });
  const more = rows.length - shown.length;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}
