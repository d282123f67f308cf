import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";

interface Row {
  name: string;
  score?: number;
  parts?: readonly [number, number];
  reason?: string | null;
}

test("undefined properties are left out, and the others keep their order", () => {
  const row: Row = defined({ name: "", parts: undefined, reason: null, score: 0 });
  expect(Object.entries(row)).toEqual([
    ["name", ""],
    ["reason", null],
    ["score", 0],
  ]);
});

test("a record is copied, not changed", () => {
  const given = { name: "a", score: undefined };
  const row: Row = defined(given);
  expect(row).not.toBe(given);
  expect(Object.keys(given)).toEqual(["name", "score"]);
});

test("only what a type may lack can be undefined", () => {
  // @ts-expect-error: a row has a name
  const nameless: Row = defined({ name: undefined });
  // @ts-expect-error: a row has no such property
  const other: Row = defined({ name: "a", other: undefined });
  // @ts-expect-error: no type is known
  const untyped = defined({ name: "a" });
  expect([nameless, other, untyped]).toEqual([{}, { name: "a" }, { name: "a" }]);
});
