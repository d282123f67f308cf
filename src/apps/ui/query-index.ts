import { setImmediate as nextTurn } from "node:timers/promises";
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
 * the order of the rows. Other work of this process runs in between.
 */
export async function queryIndex(
  rows: readonly IndexRow[],
  { stage, task, outcome, tool }: TrajectoryFilter,
  terms: readonly SortTerm[],
  { skip, limit }: { skip: number; limit: number },
): Promise<IndexPart> {
  const isFiltered = [stage, task, outcome, tool].some((value) => value !== undefined);
  const matches = (row: IndexRow) =>
    (stage === undefined || row.stage === stage) &&
    (task === undefined || row.task === task) &&
    (outcome === undefined || row.outcome === outcome) &&
    (tool === undefined || row.tools.includes(tool));
  const matching = isFiltered ? await filtered(rows, matches) : rows;
  const sorted = await inOrder(matching, terms, skip + limit);
  return { rows: sorted.slice(skip, skip + limit), total: matching.length };
}

/** How many rows are processed at once: some milliseconds of work. */
const together = 10_000;

async function* inParts(rows: readonly IndexRow[]): AsyncGenerator<readonly IndexRow[]> {
  for (let from = 0; from < rows.length; from += together) {
    if (from > 0) await nextTurn();
    yield rows.slice(from, from + together);
  }
}

async function filtered(
  rows: readonly IndexRow[],
  matches: (row: IndexRow) => boolean,
): Promise<readonly IndexRow[]> {
  const found: IndexRow[][] = [];
  for await (const part of inParts(rows)) found.push(part.filter(matches));
  return found.flat();
}

/** At least the first `count` rows in an order. */
async function inOrder(
  rows: readonly IndexRow[],
  terms: readonly SortTerm[],
  count: number,
): Promise<readonly IndexRow[]> {
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

/** The first `count` rows in an order. Each part is sorted, then merged with the first rows of the parts before. */
async function firstSorted(rows: readonly IndexRow[], compare: Order, count: number): Promise<IndexRow[]> {
  let first: IndexRow[] = [];
  for await (const part of inParts(rows)) {
    const last = first[count - 1];
    const better = last === undefined ? part : part.filter((row) => compare(row, last) < 0);
    if (better.length === 0) continue;
    first = [...first, ...better.toSorted(compare)].sort(compare).slice(0, count); // two sorted runs merge quickly
  }
  return first;
}
