import { expect, test } from "vitest";
import { queryIndex } from "../../../../src/apps/ui/query-index.ts";
import { createUniformStream } from "../../../../src/base/random/uniform-stream.ts";
import type { IndexRow } from "../../../../src/results/table/run-index.ts";
import { sortTerms } from "../../../../src/results/table/sort-terms.ts";

const uniform = createUniformStream({ seed: 1, trajectory: "rows", turn: 0 });
let drawn = 0;
const below = (count: number) => Math.floor(uniform(drawn++) * count);

/** More rows than are processed at once, in the order of an index. */
const rows = Array.from({ length: 25_000 }, (_, number): IndexRow => {
  const stage = `step-${String(1 + Math.floor(number / 100)).padStart(4, "0")}`;
  const tools = below(2) === 0 ? ["calculator"] : [];
  return {
    trajectory: `run/${stage}/task-${number % 100}/0`,
    stage,
    step: 1 + Math.floor(number / 100),
    task: `task-${number % 100}`,
    sample: 0,
    version: below(5) === 0 ? null : below(300),
    outcome: "answered",
    reward: below(5) / 4,
    success: false,
    turns: 1 + below(6),
    tool_calls: tools.length,
    tool: tools.join(", "),
    tools,
    tokens: 30,
    prompt_tokens: 10,
    action_tokens: 10,
    observation_tokens: 10,
    failure: null,
    metrics: null,
    seconds: uniform(drawn++),
  };
});
const ids = (some: readonly IndexRow[]) => some.map(({ trajectory }) => trajectory);

test.each([
  [
    "reward desc, turns",
    (one: IndexRow, other: IndexRow) => other.reward - one.reward || one.turns - other.turns,
  ],
  ["step desc", (one: IndexRow, other: IndexRow) => other.step - one.step],
  ["seconds", (one: IndexRow, other: IndexRow) => one.seconds - other.seconds],
] as const)("any page in the order %s equals that part of a complete sort", async (sort, compare) => {
  const sorted = ids(rows.toSorted(compare));
  for (const skip of [0, 50, 12_450, 24_950, 24_990]) {
    const part = await queryIndex(rows, {}, sortTerms(sort), { skip, limit: 50 });
    expect(ids(part.rows)).toEqual(sorted.slice(skip, skip + 50));
    expect(part.total).toBe(rows.length);
  }
});

test("absent values come last in both directions", async () => {
  const count = rows.filter(({ version }) => version === null).length;
  for (const sort of ["version", "version desc"]) {
    const part = await queryIndex(rows, {}, sortTerms(sort), { skip: rows.length - count - 1, limit: 2 });
    expect(part.rows.map(({ version }) => version === null)).toEqual([false, true]);
  }
});

test("a filter keeps the order of the rows, and counts all that match", async () => {
  const called = rows.filter(({ tools, task }) => tools.length > 0 && task === "task-7");
  const part = await queryIndex(rows, { tool: "calculator", task: "task-7" }, [], { skip: 10, limit: 20 });
  expect(ids(part.rows)).toEqual(ids(called.slice(10, 30)));
  expect(part.total).toBe(called.length);
});
