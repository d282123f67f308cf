import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Column,
  callColumns,
  segmentColumns,
  trajectoryColumns,
} from "../../../src/run/projections/parquet-columns.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/parquet.md"), "utf8");

test.each([
  ["Columns of a trajectory", trajectoryColumns],
  ["Columns of a segment", segmentColumns],
  ["Fields of a call", callColumns],
])("docs/parquet.md has the table “%s” as the code has it", (title, columns: Record<string, Column>) => {
  const section = page.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const wanted = Object.entries(columns).map(
    ([name, { type, description }]) => `| \`${name}\` | ${type} | ${description} |`,
  );
  expect(rows).toEqual(wanted);
});
