import { expect, test } from "vitest";
import { tableLines } from "../../../../src/apps/cli/views/table.ts";

test("columns are as wide as their widest cell, however many rows there are", () => {
  const rows = Array.from({ length: 200_000 }, (_, row) => [`row ${row}`, "1"]);
  const lines = tableLines([{ title: "name" }, { title: "value", align: "right" }], rows);
  expect(lines.length).toBe(200_001);
  expect(lines.slice(0, 2)).toEqual(["name        value", "row 0           1"]);
});
