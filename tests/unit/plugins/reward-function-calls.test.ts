import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, Score, Task, Unscored } from "everturn/plugin";
import { describe, expect, test } from "vitest";
import functionCalls from "../../../plugins/reward-function-calls/index.ts";
import taskSchema from "../../../schemas/task.schema.json" with { type: "json" };
import { benchmarkTasks } from "../../../src/apps/cli/benchmarks/benchmark-tasks.ts";
import { bfcl } from "../../../src/apps/cli/benchmarks/function-calls.ts";
import { createAjv } from "../../../src/base/validation/ajv.ts";
import { bfclAnswers } from "../../support/bfcl.ts";
import { everturn } from "../../support/command.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checked = bfclAnswers();

const scored = (task: Task, answer: string, config: JsonObject = {}) =>
  functionCalls.score({
    task,
    answer,
    turns: [],
    signal: new AbortController().signal,
    outcome: "answered" as const,
    config,
  });

const taskOf = (truth: string, more: JsonObject = {}): Task => ({
  data_source: "calls",
  prompt: [{ role: "user", content: "?" }],
  reward_model: { ground_truth: truth, ...more },
});

describe("what BFCL's own checker says of its answers", () => {
  test.each([...new Set(checked.map(({ category }) => category))])("%s", async (category) => {
    const rows = checked.filter((one) => one.category === category);
    const different: string[] = [];
    for (const { row, answer, checked: answers } of rows) {
      const task = bfcl.task({ ...answer, ...row });
      if (task === undefined) throw new Error(`${JSON.stringify(row.id)} makes no task.`);
      for (const [text, valid] of answers) {
        const { success } = expectScore(await scored(task, text));
        if (success !== valid) different.push(`${String(row.id)} ${text}: ${valid}`);
      }
    }
    expect(different).toEqual([]);
  });
});

test("rows as published become tasks with the prompt that BFCL's own code writes, each with its answer", async () => {
  const isTask = createAjv().compile<Task>(taskSchema);
  const folder = temporaryFolder();
  mkdirSync(join(folder, "possible_answer"));
  const lines = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join("\n");
  const path = join(folder, "BFCL_v4.json");
  writeFileSync(path, lines(checked.map(({ row }) => row)));
  writeFileSync(
    join(folder, "possible_answer", "BFCL_v4.json"),
    lines(checked.flatMap(({ answer }) => answer ?? [])),
  );
  const { tasks, bad } = await benchmarkTasks("bfcl", bfcl, path);
  expect([tasks.length, bad]).toEqual([checked.length, []]);
  for (const [index, task] of tasks.entries()) {
    expect(isTask(task), JSON.stringify(isTask.errors)).toBe(true);
    const { system, category } = checked[index] ?? {};
    expect(task.extra_info?.tags).toEqual([category]);
    // JSON's 5.0 is 5 here, as it is read.
    if (system !== undefined) expect(task.prompt[0]?.content).toContain(system.replace(/(\d)\.0\b/g, "$1"));
  }
  const { stdout, stderr } = await everturn("data", "tasks", "bfcl", path);
  expect(stdout.trim().split("\n")).toHaveLength(checked.length);
  expect(stderr).toContain("scored by reward-function-calls");
});

test("a file without the answers beside it, and calls of other languages, make no tasks", async () => {
  const { row, answer } = checked[0] ?? {};
  expect(bfcl.task({ ...row })).toBeUndefined();
  expect(bfcl.task({ ...answer, ...row })).toBeDefined();
  for (const id of ["simple_java_0", "simple_javascript_1", "multi_turn_base_0", "web_search_3"])
    expect(bfcl.task({ ...answer, ...row, id })).toBeUndefined();
});

test("a share of the calls is earned where it is asked for, and calls in Hermes' form are read", async () => {
  const task = taskOf('[{"f": {"a": [1]}}, {"f": {"a": [2]}}]');
  expect(await scored(task, "[f(a=1), f(a=3)]")).toMatchObject({ reward: 0, success: false });
  expect(await scored(task, "[f(a=1), f(a=3)]", { credit: "share" })).toEqual({
    reward: 0.5,
    success: false,
    metrics: { calls: 2, matched: 1, readable: 1 },
  });
  expect(await scored(task, "[f(a=2), f(a=1), f(a=1)]", { credit: "share" })).toMatchObject({
    reward: 2 / 3,
  });
  const call = (a: number) => `<tool_call>{"name": "f", "arguments": {"a": ${a}}}</tool_call>`;
  expect(await scored(task, `So: ${call(2)}${call(1)}`, { format: "hermes" })).toMatchObject({ reward: 1 });
  expect(await scored(task, call(2), { format: "hermes" })).toMatchObject({ reward: 0 });
});

test.each(["0", "-0", "0.0", "-0.0"])("a zero is a zero, with and without a sign: %s", async (zero) => {
  for (const gold of ["0", "-0.0"])
    expect(await scored(taskOf(`[{"f": {"a": [${gold}]}}]`), `[f(a=${zero})]`)).toMatchObject({ reward: 1 });
});

test.each([
  ["no JSON", taskOf("[{"), "is neither a list of calls"],
  ["a text", taskOf('"f"'), "is neither a list of calls"],
  ["a call without values", taskOf('[{"f": {"a": 1}}]'), "is not {"],
  ["two calls in one", taskOf('[{"f": {}, "g": {}}]'), "is not {"],
  ["functions that are none", taskOf("[]", { functions: "f" }), "not a list of functions"],
])("a task with %s can't be scored", async (_, task, told) => {
  expect(await scored(task, "[f()]")).toEqual({ missing: expect.stringContaining(told) });
});

function expectScore(score: Score | Unscored): Score {
  if ("missing" in score) throw new Error(score.missing);
  return score;
}

test("a ground truth with a number that JavaScript would change is told, not rounded", async () => {
  expect(await scored(taskOf('[{"f": {"id": [9007199254740993]}}]'), "[f(id=9007199254740992)]")).toEqual({
    missing: "reward_model.ground_truth of the task: the number 9007199254740993 cannot be kept exactly",
  });
});
