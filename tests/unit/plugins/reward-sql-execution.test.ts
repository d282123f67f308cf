import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseTasks, type Score, type ScoreRequest, type Task, type Unscored } from "everturn/plugin";
import { expect, test } from "vitest";
import { sameResult } from "../../../plugins/reward-sql-execution/compare.ts";
import { queryOfAnswer } from "../../../plugins/reward-sql-execution/given-query.ts";
import sqlExecution from "../../../plugins/reward-sql-execution/index.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = join(root, "pipelines", "chinook-sql");
const file = join(folder, "tasks.jsonl");
const tasks = parseTasks(readFileSync(file, "utf8"), file);
const wrong: string[][] = JSON.parse(
  readFileSync(join(root, "tests", "fixtures", "chinook-wrong.json"), "utf8"),
);

const config = { database: join(folder, "chinook.sqlite"), limits: { seconds: 60 } };

function score(task: Task, answer: string, more: Partial<ScoreRequest> = {}) {
  const signal = new AbortController().signal;
  return sqlExecution.score({ task, turns: [], outcome: "answered", answer, config, signal, ...more });
}

function scored(result: Score | Unscored): Score {
  if ("missing" in result) throw new Error(result.missing);
  return result;
}

const goldOf = (task: Task) => task.reward_model.ground_truth;
const [first] = tasks;
if (first === undefined) throw new Error("there are no tasks");

test("of 66 tasks every gold query earns 1, and every wrong one 0", async () => {
  expect(tasks).toHaveLength(66);
  expect(wrong.every((queries) => queries.length > 0)).toBe(true);
  const rewards: unknown[] = [];
  for (const [index, task] of tasks.entries()) {
    const given = [goldOf(task), ...(wrong[index] ?? [])];
    for (const [number, query] of given.entries()) {
      const { reward, success } = scored(await score(task, `Here it is:\n\`\`\`sql\n${query}\n\`\`\``));
      rewards.push({ query, reward, success });
      const right = number === 0;
      expect({ query, reward, success }).toEqual({ query, reward: right ? 1 : 0, success: right });
    }
  }
  expect(rewards.length).toBeGreaterThan(131);
});

test.for([
  ["no query at all", "I don't know.", "missing"],
  ["nothing", "", "missing"],
  ["another statement", "DROP TABLE Artist", "missing"],
  ["another statement in a block", "```sql\nDROP TABLE Artist\n```", "refused"],
  ["two statements", "SELECT count(*) FROM Artist; DROP TABLE Artist", "refused"],
  ["a file", "```\nATTACH '/tmp/x' AS x\n```", "refused"],
  ["a syntax error", "SELECT count( FROM Artist", "failed"],
  ["an extra column", "SELECT count(*), 1 FROM Artist", "different"],
  [
    "an endless query",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "stopped",
  ],
  [
    "endless rows",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
    "different",
  ],
])("%s earns 0 and says why", async ([_, answer, reason]) => {
  const limits = { seconds: reason === "stopped" ? 0.5 : 60 };
  const { reward, metrics } = scored(await score(first, answer, { config: { ...config, limits } }));
  expect([reward, metrics?.[reason]]).toEqual([0, 1]);
});

test("the answer's query stands in a block, in <answer>, or at the begin of a line", async () => {
  const gold = goldOf(first);
  for (const answer of [
    gold,
    `<answer>${gold}</answer>`,
    `~~~sql\r\n${gold}\r\n~~~`,
    `\`\`\`sql\n${gold}`,
    `The answer is:\nSQL: ${gold};`,
  ]) {
    expect(await score(first, answer)).toMatchObject({ reward: 1 });
  }
});

test("with query: last-call the last valid call of the tool is scored", async () => {
  const call = (query: string, valid = true) => ({
    tool: "sql",
    arguments: { query },
    observation: "",
    valid,
    attempts: 1,
  });
  const turns = [{ action: "", toolCalls: [call("SELECT 1"), call(goldOf(first)), call("DROP", false)] }];
  const lastCall = { ...config, query: "last-call", tool: "sql" };
  expect(await score(first, "275", { turns, config: lastCall })).toMatchObject({ reward: 1 });
  expect(await score(first, "275", { config: lastCall })).toMatchObject({ reward: 0 });
});

test("a score that can't be had is none: a gold query that is none, no database, no database named", async () => {
  const broken = (ground_truth: string) => ({ ...first, reward_model: { ground_truth } });
  expect(await score(broken("SELECT nowhere"), "SELECT 1")).toMatchObject({
    missing: expect.stringContaining("the gold query SELECT nowhere has no result: no such column"),
  });
  expect(await score(broken("DROP TABLE Artist"), "SELECT 1")).toHaveProperty("missing");
  const elsewhere = { config: { database: join(folder, "tasks.jsonl") } };
  await expect(score(first, "SELECT 1", elsewhere)).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
  await expect(score(first, "SELECT 1", { config: {} })).rejects.toMatchObject({
    code: "DATABASE_NOT_NAMED",
  });
  const named = (name: string) => ({ ...first, extra_info: { database: name } });
  const inFolder = { config: { folder } };
  expect(await score(named("chinook"), goldOf(first), inFolder)).toMatchObject({ reward: 1 });
  for (const name of ["../secret", "nothing"])
    await expect(score(named(name), "SELECT 1", inFolder)).rejects.toMatchObject({
      code: "DATABASE_NOT_NAMED",
    });
});

test("results are compared as multisets, in order where asked, numbers with tolerance, columns by place", () => {
  const result = (...rows: (string | number | bigint | null | Uint8Array)[][]) => ({
    kind: "rows" as const,
    columns: (rows[0] ?? []).map(String),
    rows,
  });
  const usual = { ordered: false, columns: "same" as const, tolerance: 1e-6 };
  const gold = result(["a", 1n], ["b", 2n], ["b", 2n]);
  expect(sameResult(gold, result(["b", 2n], ["a", 1n], ["b", 2]), usual)).toBe(true);
  expect(sameResult(gold, result(["b", 2n], ["a", 1n], ["a", 1n]), usual)).toBe(false);
  expect(sameResult(gold, result(["b", 2n], ["a", 1n], ["b", 2n]), { ...usual, ordered: true })).toBe(false);
  expect(sameResult(gold, result([1n, "a"], [2n, "b"], [2n, "b"]), usual)).toBe(false);
  expect(sameResult(gold, result([2n, "b"], [1n, "a"], [2n, "b"]), { ...usual, columns: "any" })).toBe(true);
  expect(
    sameResult(result([1n, 2n], [2n, 1n]), result([1n, 1n], [2n, 2n]), { ...usual, columns: "any" }),
  ).toBe(false);
  expect(
    sameResult(result([0.1 + 0.2, 5n], [0.3, 1n]), result([0.3, 5n], [0.30000000000000004, 1n]), usual),
  ).toBe(true);
  expect(sameResult(result([9007199254740993n]), result([9007199254740992n]), usual)).toBe(false);
  expect(sameResult(result([null]), result(["null"]), usual)).toBe(false);
  expect(sameResult(result(["1"]), result([1n]), usual)).toBe(false);
  expect(sameResult(result([Uint8Array.of(1)]), result([Uint8Array.of(1)]), usual)).toBe(true);
  expect(sameResult(result([100]), result([100.01]), usual)).toBe(false);
});

test.each([
  ["```sql\nSELECT 1\n```\nIt gives:\n```\n| 1 |\n```", "SELECT 1"],
  ["```sql SELECT 1```", "SELECT 1"],
  ["First ```sql SELECT 1```, then\n```sql\nSELECT 2\n```", "SELECT 2"],
  ["1. Run\r\n   ```SQL  \r\n   SELECT 1\r\n   ```", "SELECT 1"],
  ['```sql title="a"\nSELECT 1\n```', "SELECT 1"],
  ["```\nSELECT 1\n```", "SELECT 1"],
  ["~~~postgresql\nSELECT 1", "SELECT 1"],
])("the query of %j is %s", (answer, query) => {
  expect(queryOfAnswer(answer)).toBe(query);
});

test("the query of an answer of odd fences is found in one pass", () => {
  const start = performance.now();
  for (const odd of ["a", " ", "`", "a ", "\n```", "~~~ x"]) queryOfAnswer(`\`\`\`${odd.repeat(100_000)}`);
  expect(performance.now() - start).toBeLessThan(10_000);
});
