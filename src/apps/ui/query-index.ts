import type { TrajectoryFilter } from "../../control/operations/list-trajectories.ts";
import type { IndexRow } from "../../results/table/run-index.ts";
import type { SortTerm } from "../../results/table/sort-terms.ts";

/** The columns of conditions that an index has, so that it can sort by them. */
const sortable = [
  "trajectory",
  "stage",
  "step",
  "task",
  "sample",
  "version",
  "outcome",
  "reward",
  "success",
  "turns",
  "tool_calls",
  "tool",
  "tokens",
  "prompt_tokens",
  "action_tokens",
  "observation_tokens",
  "failure",
  "seconds",
] as const satisfies readonly (keyof IndexRow)[];

type Sortable = (typeof sortable)[number];

/** Whether an index can sort in this order. */
export function canSort(terms: readonly SortTerm[]): boolean {
  return terms.every(({ column }) => isSortable(column));
}

function isSortable(column: string): column is Sortable {
  return sortable.some((one) => one === column);
}

/** A part of the rows that match, and their number. */
export interface IndexPart {
  rows: readonly IndexRow[];
  total: number;
}

/**
 * The rows that match a filter, sorted by columns that an index has: `limit` of them after the first `skip`. Ties keep
 * the order of the rows.
 */
export function queryIndex(
  rows: readonly IndexRow[],
  { stage, task, outcome, tool }: TrajectoryFilter,
  terms: readonly SortTerm[],
  { skip, limit }: { skip: number; limit: number },
): IndexPart {
  const isFiltered = [stage, task, outcome, tool].some((value) => value !== undefined);
  const matching = isFiltered
    ? rows.filter(
        (row) =>
          (stage === undefined || row.stage === stage) &&
          (task === undefined || row.task === task) &&
          (outcome === undefined || row.outcome === outcome) &&
          (tool === undefined || row.tools.includes(tool)),
      )
    : rows;
  const sorted = inOrder(matching, terms, skip + limit);
  return { rows: sorted.slice(skip, skip + limit), total: matching.length };
}

/** At least the first `count` rows in an order. */
function inOrder(rows: readonly IndexRow[], terms: readonly SortTerm[], count: number): readonly IndexRow[] {
  const [first] = terms;
  if (first === undefined) return rows;
  if (first.column === "trajectory") return first.isDescending ? rows.toReversed() : rows;
  return firstSorted(rows, order(terms), count);
}

type Order = (one: IndexRow, other: IndexRow) => number;

function order(terms: readonly SortTerm[]): Order {
  const known = terms.flatMap(({ column, isDescending }) =>
    isSortable(column) ? [{ column, sign: isDescending ? -1 : 1 }] : [],
  );
  return (one, other) => {
    for (const { column, sign } of known) {
      const [a, b] = [one[column], other[column]];
      if (a === b) continue;
      if (a === null || b === null) return a === null ? 1 : -1; // absent values come last
      return a < b ? -sign : sign;
    }
    return 0;
  };
}

/** The same, faster than a sort of all rows if there are many more than `count`. */
function firstSorted(rows: readonly IndexRow[], compare: Order, count: number): readonly IndexRow[] {
  const first: IndexRow[] = [];
  let last: IndexRow | undefined; // of the first `count` so far
  for (const row of rows) {
    if (last !== undefined && compare(row, last) >= 0) continue;
    first.push(row);
    if (first.length < 2 * count) continue;
    first.sort(compare).length = count;
    last = first.at(-1);
  }
  return first.sort(compare);
}
