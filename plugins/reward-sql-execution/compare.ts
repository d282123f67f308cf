import type { QueryOutcome, SqlDecimal, SqlValue } from "everturn/sql";

type Rows = Extract<QueryOutcome, { kind: "rows" }>;

export interface Comparison {
  /** Whether the order of rows counts. If not, each row counts as often as it appears. */
  ordered: boolean;
  /** Whether columns may be in another order. Their names never count. */
  columns: "same" | "any";
  /** The relative tolerance: two numbers may differ by this share of the larger one. */
  tolerance: number;
}

/** The maximum number of columns whose orders are tried, with `columns: any`. */
const mostPermuted = 8;

/** The maximum number of rows that are each looked up among the others. */
const mostMatched = 2000;

/** Whether two results are equal. */
export function sameResult(gold: Rows, given: Rows, comparison: Comparison): boolean {
  const width = gold.columns.length;
  if (width !== given.columns.length || gold.rows.length !== given.rows.length) return false;
  const same = (order: readonly number[]) => sameRows(gold.rows, given.rows, order, comparison);
  const asTheyStand = gold.columns.map((_, index) => index);
  if (same(asTheyStand)) return true;
  if (comparison.columns === "same" || width > mostPermuted) return false;
  const fits = asTheyStand.map((one) =>
    asTheyStand.filter((other) => sameColumn(gold.rows, given.rows, one, other, comparison)),
  );
  for (const order of orders(fits)) if (same(order)) return true;
  return false;
}

/** Yields each assignment of the columns to others that they fit. */
function* orders(fits: readonly number[][], chosen: readonly number[] = []): Generator<number[]> {
  const next = fits[chosen.length];
  if (next === undefined) return yield [...chosen];
  for (const column of next) if (!chosen.includes(column)) yield* orders(fits, [...chosen, column]);
}

function sameColumn(
  gold: readonly SqlValue[][],
  given: readonly SqlValue[][],
  one: number,
  other: number,
  comparison: Comparison,
): boolean {
  const only = (rows: readonly SqlValue[][], column: number) => rows.map((row) => [row[column] ?? null]);
  return sameRows(only(gold, one), only(given, other), [0], comparison);
}

function sameRows(
  gold: readonly SqlValue[][],
  given: readonly SqlValue[][],
  order: readonly number[],
  { ordered, tolerance }: Comparison,
): boolean {
  const turned = given.map((row) => order.map((column) => row[column] ?? null));
  const alike = (goldRow: readonly SqlValue[], givenRow: readonly SqlValue[] = []) =>
    goldRow.every((value, column) => sameValue(value, givenRow[column] ?? null, tolerance));
  if (ordered) return gold.every((row, index) => alike(row, turned[index]));
  const [one, other] = [sorted(gold), sorted(turned)];
  if (one.every((row, index) => alike(row, other[index]))) return true;
  // Numbers that differ by a rounding error may have sorted rows differently.
  return one.length <= mostMatched && one.every((row) => takes(other, (candidate) => alike(row, candidate)));
}

/** Removes the first element that fits from the list. Returns false if none does. */
function takes(list: SqlValue[][], fits: (row: SqlValue[]) => boolean): boolean {
  const index = list.findIndex(fits);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}

/**
 * Sorts rows so that rounding errors in numbers don't change the order, unless the rows are otherwise equal.
 */
function sorted(rows: readonly SqlValue[][]): SqlValue[][] {
  const keyed = rows.map((row) => ({
    row,
    exact: row.map(exactKey).join("\u0001"),
    numbers: row.map(numberOf),
  }));
  keyed.sort((a, b) => {
    if (a.exact !== b.exact) return a.exact < b.exact ? -1 : 1;
    for (const [index, one] of a.numbers.entries()) {
      const order = one === undefined ? 0 : compared(one, b.numbers[index] ?? one);
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
}

/** Compares numbers by size, integers exactly, NaN last. */
function compared(one: number | bigint, other: number | bigint): number {
  if (one < other) return -1;
  if (one > other) return 1;
  return Number(Number.isNaN(one)) - Number(Number.isNaN(other));
}

function exactKey(value: SqlValue): string {
  if (value === null) return "null";
  if (numberOf(value) !== undefined) return "number";
  return value instanceof Uint8Array ? `blob:${Buffer.from(value).toString("hex")}` : `text:${value}`;
}

/** The number in a value. true and false are 1 and 0, as in SQLite. */
function numberOf(value: SqlValue): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value === "boolean") return Number(value);
  return isDecimal(value) ? Number(value.decimal) : undefined;
}

function isDecimal(value: SqlValue): value is SqlDecimal {
  return typeof value === "object" && value !== null && "decimal" in value;
}

function sameValue(one: SqlValue, other: SqlValue, tolerance: number): boolean {
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a === undefined || b === undefined) return exactKey(one) === exactKey(other);
  if (typeof a === "bigint" && typeof b === "bigint") return a === b;
  // Infinity is within any share of itself, but neither it nor NaN is close to another number.
  if (!Number.isFinite(Number(a)) || !Number.isFinite(Number(b))) return compared(a, b) === 0;
  return (
    Math.abs(Number(a) - Number(b)) <= tolerance * Math.max(Math.abs(Number(a)), Math.abs(Number(b)), 1e-9)
  );
}
