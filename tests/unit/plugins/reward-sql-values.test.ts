import type { SqlValue } from "everturn/sql";
import { expect, test } from "vitest";
import { sameResult } from "../../../plugins/reward-sql-execution/compare.ts";

const result = (...rows: SqlValue[][]) => ({
  kind: "rows" as const,
  columns: (rows[0] ?? []).map((_, index) => `column ${index}`),
  rows,
});

function same(gold: SqlValue[][], given: SqlValue[][], ordered = false): boolean {
  return sameResult(result(...gold), result(...given), { ordered, columns: "same", tolerance: 1e-6 });
}

const { NaN: nan, POSITIVE_INFINITY: infinity, MAX_VALUE: largest } = Number;

test.each<[SqlValue, SqlValue, boolean]>([
  [42, infinity, false],
  [42n, infinity, false],
  [42n, -infinity, false],
  [infinity, 42, false],
  [largest, infinity, false],
  [infinity, infinity, true],
  [-infinity, -infinity, true],
  [infinity, -infinity, false],
  [nan, nan, true],
  [nan, infinity, false],
  [nan, 0, false],
  [0n, nan, false],
  [nan, null, false],
  [null, nan, false],
  [nan, "NaN", false],
  [largest, -largest, false],
  [largest, largest * (1 - 1e-9), true],
  [-0, 0n, true],
  [9007199254740993n, 9007199254740992n, false],
  [2n ** 100n, 2n ** 100n + 1n, false],
  [2n ** 100n, 2 ** 100, true],
  [10n ** 400n, infinity, false],
  [{ decimal: "3.3333333333333333" }, 10 / 3, true],
  [{ decimal: "3.33333333333333333333" }, { decimal: "3.3333333333333333" }, true],
  [{ decimal: "3.3333333333333333" }, "3.3333333333333333", false],
  [{ decimal: "3.3333333333333333" }, 3n, false],
  ["1", 1n, false],
  [true, 1n, true],
])("%s and %s: %s", (gold, given, verdict) => {
  expect(same([[gold]], [[given]])).toBe(verdict);
  expect(same([[gold, "x"]], [[given, "x"]], true)).toBe(verdict);
});

test("rows with NaN, infinities and large integers match in any order", () => {
  const values = [nan, 1n, infinity, 9007199254740993n, -infinity, 9007199254740992n, 0.5];
  const rows = values.flatMap((one) => values.map((other) => [one, other]));
  expect(same(rows, rows.toReversed())).toBe(true);
  expect(same(rows, rows.toReversed(), true)).toBe(false);
  const many = Array.from({ length: 3000 }, (_, index) => [
    index % 7 === 0 ? nan : BigInt(index) + 2n ** 60n,
  ]);
  expect(same(many, many.toReversed())).toBe(true);
  expect(same(many, [...many.slice(1), [nan]])).toBe(true);
  expect(same(many, [...many.slice(1), [infinity]])).toBe(false);
});
