import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import taskSchema from "../../../../../schemas/task.schema.json" with { type: "json" };
import { benchmarkTasks } from "../../../../../src/apps/cli/benchmarks/benchmark-tasks.ts";
import { benchmarks } from "../../../../../src/apps/cli/benchmarks/benchmarks.ts";
import { createAjv } from "../../../../../src/base/validation/ajv.ts";
import type { Task } from "../../../../../src/contracts/generated/task.ts";
import { everturn } from "../../../../support/command.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const isTask = createAjv().compile<Task>(taskSchema);

/** Rows as the benchmarks' publishers write them, and the ground truth of each. */
const published: Record<string, [row: object, truth: unknown][]> = {
  gsm8k: [
    [{ question: "How many?", answer: "She has 9 + 9 = <<9+9=18>>18.\n#### 18" }, "18"],
    [{ question: "How much?", answer: "It is a lot.\n#### 1,200" }, "1200"],
  ],
  math: [
    [
      {
        problem: "Convert $(0,3)$.",
        solution: "…$\\boxed{(3,\\frac{\\pi}{2})}$",
        subject: "Precalculus",
        answer: "\\left( 3, \\frac{\\pi}{2} \\right)",
        level: 2,
        unique_id: "test/precalculus/807.json",
      },
      "\\left( 3, \\frac{\\pi}{2} \\right)",
    ],
    [{ problem: "x?", solution: "so $x = \\boxed 5$ here" }, "5"],
    [{ problem: "x?", solution: "so \\fbox{$5$}" }, "5"],
    [
      { problem: "x?", solution: "so $\\boxed{\\frac{1}{\\sqrt{1 + x_{n}}}}$" },
      "\\frac{1}{\\sqrt{1 + x_{n}}}",
    ],
    [{ problem: "x?", solution: "$\\boxed{\\left\\{1, 2\\right\\}}.$" }, "\\left\\{1, 2\\right\\}"],
    [{ problem: "x?", answer: "$\\boxed{7}$", solution: "\\boxed{8}" }, "7"],
    [
      {
        problem: "x?",
        solution: "so \\boxed{1}, no: $\\boxed{\\frac{1}{2}}$",
        type: "Algebra",
        level: "Level 1",
      },
      "\\frac{1}{2}",
    ],
  ],
  aime: [
    [{ ID: "2024-II-4", Problem: "Find m+n.", Solution: "…", Answer: 33 }, "33"],
    [{ id: 0, problem: "Find N.", answer: "070" }, "70"],
  ],
  humaneval: [],
  mbpp: [
    [
      {
        task_id: 2,
        text: "Write a function to find the shared elements.",
        code: "def similar(a, b): …",
        test_list: ["assert similar((3, 4), (4, 5)) == (4,)"],
        test_setup_code: "",
        challenge_test_list: [],
      },
      { test_list: ["assert similar((3, 4), (4, 5)) == (4,)"], test_setup_code: "" },
    ],
    [
      {
        task_id: 3,
        prompt: "Write g.",
        code: "…",
        test_imports: ["import math"],
        test_list: ["assert g() == 1"],
      },
      { test_list: ["assert g() == 1"], test_setup_code: "import math" },
    ],
  ],
  bfcl: [
    [
      {
        id: "simple_python_0",
        question: [[{ role: "user", content: "The area?" }]],
        function: [{ name: "area", description: "Area.", parameters: { type: "dict", properties: {} } }],
        ground_truth: [{ area: { base: [10] } }],
      },
      [{ area: { base: [10] } }],
    ],
    [{ id: "irrelevance_0", question: [[{ role: "user", content: "The area?" }]], function: [] }, []],
  ],
  "search-qa": [
    [{ id: "test_0", question: "who wrote it", golden_answers: ["A. Smith", "Smith"] }, "A. Smith"],
    [
      { _id: "5a", question: "Which came first?", answer: "the first", type: "comparison", level: "hard" },
      "the first",
    ],
  ],
  "text-to-sql": [
    [
      { db_id: "concert_singer", question: "How many singers?", query: "SELECT count(*) FROM singer" },
      "SELECT count(*) FROM singer",
    ],
    [
      {
        question_id: 0,
        db_id: "schools",
        question: "Which?",
        evidence: "rate = a / b",
        SQL: "SELECT 1",
        difficulty: "simple",
      },
      "SELECT 1",
    ],
  ],
};

test.each(Object.entries(benchmarks))(
  "rows of %s as they are published become tasks",
  async (name, benchmark) => {
    const rows = published[name] ?? [];
    for (const [row, truth] of rows) {
      const task = benchmark.task(JSON.parse(JSON.stringify(row)));
      expect(isTask(task), JSON.stringify(isTask.errors)).toBe(true);
      const given = task?.reward_model.ground_truth ?? "";
      expect(typeof truth === "string" ? given : JSON.parse(given)).toEqual(truth);
    }
    expect(benchmark.task({ other: 1 })).toBeUndefined();
  },
);

test("tags, other answers and databases are where evaluations and rewards look for them", () => {
  const [first] = published.math ?? [];
  expect(benchmarks.math?.task(Object(first?.[0]))?.extra_info).toEqual({
    unique_id: "test/precalculus/807.json",
    tags: ["Precalculus", "Level 2"],
  });
  expect(
    benchmarks["search-qa"]?.task(Object(published["search-qa"]?.[0]?.[0]))?.reward_model.answers,
  ).toEqual(["Smith"]);
  expect(benchmarks["text-to-sql"]?.task(Object(published["text-to-sql"]?.[1]?.[0]))).toMatchObject({
    prompt: [{ content: "Which?\nrate = a / b" }],
    extra_info: { database: "schools", tags: ["simple"] },
  });
});

test("HumanEval's own file becomes 164 tasks, from JSON Lines, JSON and Parquet alike", async () => {
  const lines = join(import.meta.dirname, "..", "..", "..", "..", "fixtures", "humaneval.jsonl");
  const { humaneval } = benchmarks;
  if (humaneval === undefined) throw new Error("It is gone.");
  const rows = readFileSync(lines, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const list = join(folder, "humaneval.json");
  writeFileSync(list, JSON.stringify(rows));
  const parquet = join(folder, "humaneval.parquet");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT * FROM read_json('${lines}')) TO '${parquet}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  const read = await Promise.all(
    [lines, list, parquet].map((path) => benchmarkTasks("humaneval", humaneval, path)),
  );
  for (const one of read) expect(one).toEqual(read[0]);
  expect(read[0]?.tasks.length).toBe(rows.length);
  expect(read[0]?.tasks.every((one) => isTask(one))).toBe(true);
});

describe("a benchmark's file", () => {
  const good = JSON.stringify(published.gsm8k?.[0]?.[0]);
  const written = (name: string) => {
    const file = join(folder, name);
    writeFileSync(file, `${good}\n{"question": "and the answer?"}\n\n{cut\n${good}\n`);
    return file;
  };

  test("with bad rows is refused with their places", async () => {
    const { code, stdout, stderr } = await everturn("data", "tasks", "gsm8k", written("bad.jsonl"));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/bad\.jsonl:2, .*bad\.jsonl:4: not a task of gsm8k/);
  });

  test("gives its other rows with --skip-bad, which counts the bad ones", async () => {
    const file = written("skipped.jsonl");
    const { code, stdout, stderr } = await everturn("data", "tasks", "gsm8k", file, "--skip-bad");
    expect([code, stdout.trim().split("\n").length]).toEqual([0, 2]);
    expect(stderr).toMatch(/^2 tasks, scored by reward-math.*; 2 rows left out: .*:2, .*:4\n$/);
  });

  test("of another benchmark is refused", async () => {
    const { stderr } = await everturn("data", "tasks", "mbpp", written("gsm8k.jsonl"));
    expect(stderr).toMatch(
      /contains no tasks of mbpp: none of its rows is one of it\. Use the file as published, with MBPP/,
    );
  });

  test("that is missing is named", async () => {
    const none = await everturn("data", "tasks", "gsm8k", join(folder, "nowhere.jsonl"));
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("nowhere.jsonl")]);
  });
});
