import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import dataset from "../../../plugins/dataset-table/index.ts";
import { leftOutRows } from "../../../src/base/validation/json-lines.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const verl = join(import.meta.dirname, "..", "..", "fixtures", "verl-parquet");
const folder = temporaryFolder();
const load = async (config: Parameters<typeof dataset.load>[0]) => dataset.load(config);

/** A file of this text. */
function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const sums = written(
  "sums.csv",
  'question,answer\n"What, ""is"" 1 + 1?\nNow",007\n2 + 2,2024-01-01T00:00:00Z\n',
);
const asTasks =
  "SELECT 'sums' AS data_source, [{'role': 'user', 'content': question}] AS prompt, {'ground_truth': answer} AS reward_model FROM rows";

test("Parquet files of verl's own preprocessing scripts are tasks as they are", async () => {
  const plain = await load({ path: join(verl, "gsm8k.parquet") });
  expect(plain).toHaveLength(8);
  expect(plain[0]).toEqual({
    data_source: "openai/gsm8k",
    prompt: [
      {
        role: "user",
        content: expect.stringMatching(/^Ada has 103 bags .* Let's think step by step .* after "####"\.$/),
      },
    ],
    ability: "math",
    reward_model: { style: "rule", ground_truth: "928" },
    extra_info: {
      split: "test",
      index: 0,
      answer: expect.stringMatching(/\n#### 928$/),
      question: "Ada has 103 bags with 9 apples each, and 1 more. How many apples are there?",
    },
  });
  const [looped] = await load({ path: join(verl, "gsm8k_tool_agent_loop.parquet") });
  expect(looped).toMatchObject({
    agent_name: "tool_agent",
    extra_info: {
      need_tools_kwargs: true,
      tools_kwargs: { calc_gsm8k_reward: { create_kwargs: { ground_truth: "928" } } },
      interaction_kwargs: { query: expect.any(String) },
    },
  });
  const [withTool] = await load({ path: join(verl, "gsm8k_multiturn_w_tool.parquet") });
  expect(withTool?.prompt.map(({ role }) => role)).toEqual(["system", "user"]);
  const [interactive] = await load({ path: join(verl, "gsm8k_multiturn_w_interaction.parquet") });
  expect(interactive).toMatchObject({ extra_info: { interaction_kwargs: { name: "gsm8k" } } });
});

test("texts of CSV and JSON stay what they are, whatever they look like", async () => {
  expect(await load({ path: sums, query: asTasks })).toEqual([
    {
      data_source: "sums",
      prompt: [{ role: "user", content: 'What, "is" 1 + 1?\nNow' }],
      reward_model: { ground_truth: "007" },
    },
    expect.objectContaining({ reward_model: { ground_truth: "2024-01-01T00:00:00Z" } }),
  ]);
  const row = (answer: unknown, more: object = {}) => ({
    data_source: "x",
    prompt: [{ role: "user", content: "2024-01-01 é😀" }],
    reward_model: { ground_truth: answer },
    ...more,
  });
  const rows = [row("2024-01-01"), row("0123", { ability: "math" })];
  const lines = rows.map((one) => JSON.stringify(one)).join("\n");
  expect(await load({ path: written("rows.jsonl", lines) }), "what is null is absent").toEqual(rows);
  const several = written("several.json", JSON.stringify([row(["a", "b"])]));
  const [first] = await load({ path: several });
  expect(first?.reward_model.ground_truth).toBe('["a","b"]');
});

test("a query filters, joins, removes doubles and splits, the same each time", async () => {
  const parts = join(folder, "parts");
  mkdirSync(parts);
  for (const part of [1, 0])
    writeFileSync(
      join(parts, `part-${part}.tsv`),
      `question\tlevel\n${Array.from({ length: 50 }, (_, at) => `${part * 40 + at} + 1?\t${at % 3}`).join("\n")}\n`,
    );
  writeFileSync(join(parts, "notes.txt"), "no table");
  const names = written("names.csv", "level,name\n0,easy\n1,hard\n");
  const query = (rest: string) =>
    `SELECT name AS data_source, [{'role': 'user', 'content': question}] AS prompt, {'ground_truth': '1'} AS reward_model
     FROM (SELECT DISTINCT ON (question) * FROM rows ORDER BY question) JOIN names USING (level) WHERE ${rest} ORDER BY question;`;
  const of = (rest: string) => load({ path: parts, tables: { names }, query: query(rest) });
  const [train, held, again] = await Promise.all([
    of("hash(question) % 10 < 8"),
    of("hash(question) % 10 >= 8"),
    of("hash(question) % 10 < 8"),
  ]);
  expect(again).toEqual(train);
  const questions = [...train, ...held].map(({ prompt }) => prompt[0]?.content);
  expect(new Set(questions).size).toBe(questions.length);
  expect(new Set([...train, ...held].map(({ data_source: source }) => source))).toEqual(
    new Set(["easy", "hard"]),
  );
  const inOrder = await load({
    path: parts,
    query: `${query("true")
      .replace(/FROM[\s\S]*/, "FROM rows")
      .replace("name AS", "level AS")}`,
    limit: 60,
  });
  expect(inOrder.map(({ prompt }) => parseInt(prompt[0]?.content ?? "", 10))).toEqual([
    ...Array.from({ length: 50 }, (_, at) => at),
    ...Array.from({ length: 10 }, (_, at) => 40 + at),
  ]);
});

test.each<[string, string, RegExp]>([
  ["SELECT", sums, /SELECT clause without selection list/],
  ["SELECT 1; DROP TABLE rows", sums, /syntax error/],
  ["DELETE FROM rows", sums, /syntax error/],
  ["SELECT * FROM nothing", sums, /nothing does not exist/],
  ["SELECT * FROM read_csv('/etc/passwd')", sums, /disabled by configuration/],
  [
    "SELECT * FROM rows",
    sums,
    /sums\.csv are not tasks\. Its columns: question, answer\. Name the columns to use, columns:/,
  ],
  ["SELECT [] AS prompt FROM rows", sums, /sums\.csv:1:1 and in 1 more row: the row lacks “data_source”/],
  [asTasks, written("notes.txt", "no table"), /notes\.txt is not a table: name a Parquet/],
  [asTasks, written("broken.parquet", "PAR1 no more"), /broken\.parquet/],
  [asTasks, written("broken.jsonl", '{"question": 1\n'), /broken\.jsonl/],
])("%s of %s is refused with the reason", async (query, path, reason) => {
  await expect(load({ path, query })).rejects.toThrow(reason);
});

test("columns make tasks; the others are kept, and a column that is not there is named", async () => {
  const file = written(
    "levels.csv",
    "question,answer,level,who\n1+1?,2,easy,You add.\n2+2?,,hard,You add.\n",
  );
  const columns = { prompt: "question", groundTruth: "answer" };
  const [first] = await load({ path: file, columns, limit: 1 });
  expect(first).toEqual({
    data_source: "levels",
    prompt: [{ role: "user", content: "1+1?" }],
    reward_model: { ground_truth: "2" },
    extra_info: { level: "easy", who: "You add." },
  });
  const all = { ...columns, dataSource: "level", system: "who" };
  expect((await load({ path: file, columns: all, limit: 1 }))[0]).toMatchObject({
    data_source: "easy",
    prompt: [
      { role: "system", content: "You add." },
      { role: "user", content: "1+1?" },
    ],
  });
  await expect(load({ path: file, columns: { prompt: "q", groundTruth: "answer" } })).rejects.toThrow(
    "levels.csv has no column q. Its columns: question, answer, level, who.",
  );
  await expect(load({ path: file, columns })).rejects.toThrow(
    /levels\.csv:2:\d+: reward_model lacks “ground_truth”/,
  );
  expect(await load({ path: file, columns, badRows: "skip" })).toHaveLength(1);
  const torn = written("lacks.jsonl", '{"question": "1+1?"}\n{"question": "2+2?", "answer": "4"}\n');
  await expect(load({ path: torn, columns })).rejects.toThrow(/:1:\d+: reward_model lacks “ground_truth”/);
  expect(await load({ path: torn, columns, badRows: "skip" })).toHaveLength(1);
});

test.each([
  ["in lines that end otherwise", 'q,a\n"one\r\ntwo",2\nthree,4\n', "one\r\ntwo"],
  ["with CRLF around it", 'q,a\r\n"one\ntwo",2\r\nthree,4\r\n', "one\ntwo"],
])("a text of several lines is one value of a CSV file, %s", async (name, content, prompt) => {
  const path = written(`lines ${name}.csv`, content);
  const tasks = await load({ path, columns: { prompt: "q", groundTruth: "a" } });
  expect(tasks.map((one) => [one.prompt[0]?.content, one.reward_model.ground_truth])).toEqual([
    [prompt, "2"],
    ["three", "4"],
  ]);
});

test.each([
  "12345678-1234-1234-1234-123456789ABC",
  "9:05:03",
  "infinity",
  "-infinity",
  "epoch",
  "2024-5-06",
  "2024-05-06T07:08:09Z",
])("the text %s of a JSON file stays as it is in a query", async (truth) => {
  const path = written(
    "looks.jsonl",
    `${JSON.stringify({ q: "?", a: truth, "TIME DATE": { UUID: [truth] } })}\n`,
  );
  const query = 'SELECT q, a, "TIME DATE" FROM rows';
  const [task] = await load({ path, query, columns: { prompt: "q", groundTruth: "a" } });
  expect(task?.reward_model.ground_truth).toBe(truth);
  expect(task?.extra_info).toEqual({ "TIME DATE": { UUID: [truth] } });
});

test("images in Parquet, as Hugging Face writes them, are in base64", async () => {
  const picture = join(import.meta.dirname, "../../../pipelines/zoom/images/001.png");
  const path = join(temporaryFolder(), "rows.parquet");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(
    `COPY (SELECT 'd' AS data_source, [{'role': 'user', 'content': '<image>?'}] AS prompt, {'ground_truth': '1'} AS reward_model,
      [{'bytes': content, 'path': NULL::VARCHAR}] AS images FROM read_blob('${picture}')) TO '${path}' (FORMAT parquet)`,
  );
  connection.closeSync();
  const [task] = await load({ path });
  expect(task?.images).toEqual([{ bytes: readFileSync(picture).toString("base64") }]);
});

describe("values that JavaScript or DuckDB cannot hold", () => {
  const prompt = "[{'role': 'user', 'content': 'q'}] AS prompt";

  /** A Parquet file of what a SELECT gives. */
  async function parquet(name: string, select: string): Promise<string> {
    const path = join(folder, `${name}.parquet`);
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet)`);
    connection.closeSync();
    return path;
  }

  test.each<[string, string, string]>([
    ["int64", "9007199254740993::BIGINT", "9007199254740993"],
    ["uint64", "18446744073709551615::UBIGINT", "18446744073709551615"],
    ["decimal", "12345678901234567.89::DECIMAL(38, 2)", "12345678901234567.89"],
  ])(
    "a row of Parquet with a large %s is refused, with its number, or left out",
    async (name, value, number) => {
      const rows = [value, `7::${value.split("::")[1]}`].map(
        (id) =>
          `SELECT 'd' AS data_source, ${prompt}, {'ground_truth': '1'} AS reward_model, {'id': ${id}} AS extra_info`,
      );
      const path = await parquet(name, rows.join(" UNION ALL "));
      await expect(load({ path })).rejects.toThrow(
        `:1:116: the number ${number} in extra_info.id cannot be kept exactly`,
      );
      const tasks = await load({ path, badRows: "skip" });
      expect(tasks.map((one) => one.extra_info)).toEqual([{ id: 7 }]);
      expect(leftOutRows(tasks)).toEqual({ count: 1, problems: [expect.stringContaining(number)] });
    },
  );

  test("a ground truth in a column keeps each digit", async () => {
    const path = await parquet(
      "digits",
      "SELECT 'q' AS question, 9007199254740993::BIGINT AS whole, 12.50::DECIMAL(10, 2) AS price",
    );
    const truth = async (groundTruth: string, query: string) =>
      (await load({ path, query, columns: { prompt: "question", groundTruth } }))[0]?.reward_model;
    expect(await truth("whole", "SELECT question, whole FROM rows")).toEqual({
      ground_truth: "9007199254740993",
    });
    expect(await truth("price", "SELECT question, price FROM rows")).toEqual({ ground_truth: "12.50" });
  });

  test.each(["NaN", "Infinity", "-Infinity"])("%s is refused by its place, or left out", async (number) => {
    const rows = ["1.5", `'${number}'`].map(
      (value) =>
        `SELECT 'd' AS data_source, ${prompt}, {'ground_truth': '1'} AS reward_model, {'x': ${value}::DOUBLE} AS extra_info`,
    );
    const path = await parquet(`number${number}`, rows.join(" UNION ALL "));
    await expect(load({ path })).rejects.toThrow(
      `:2:115: not valid JSON: JSON has no ${number} in extra_info.x.`,
    );
    expect(await load({ path, badRows: "skip" })).toHaveLength(1);
  });

  const task = (more: string) =>
    `{"data_source": "d", "prompt": [{"role": "user", "content": "q"}], "reward_model": {"ground_truth": "1"}, "extra_info": ${more}}`;

  test("rows of JSON keep keys that differ by case, and numbers of columns with several types", async () => {
    const path = written(
      "case.jsonl",
      `${task('{"x": {"a": 1, "A": 2}, "n": 9007199254740991}')}\n${task('{"n": 0.1}')}\n`,
    );
    const tasks = await load({ path });
    expect(tasks.map((one) => one.extra_info)).toEqual([
      { x: { a: 1, A: 2 }, n: 9007199254740991 },
      { n: 0.1 },
    ]);
    const list = written("case.json", `[\n${task('{"a": 1,\n "A": "[,]"}')},\n${task("{}")}\n]`);
    expect((await load({ path: list })).map((one) => one.extra_info)).toEqual([{ a: 1, A: "[,]" }, {}]);
  });

  test("a number in a JSON list that would change is refused", async () => {
    const path = written("large.json", `[${task("{}")}, ${task('{"id": 9007199254740993}')}]`);
    await expect(load({ path })).rejects.toThrow(
      "large.json:2:128: the number 9007199254740993 in extra_info.id cannot be kept",
    );
  });

  test("names that a query could not tell apart are refused", async () => {
    const query = "SELECT * FROM rows";
    const json = written("alike.jsonl", `${task('{"k": 1, "K": 2}')}\n`);
    await expect(load({ path: json, query })).rejects.toThrow(
      "alike.jsonl:1: DuckDB cannot tell the names k and K apart. Rename one of the two.",
    );
    const csv = written("alike.csv", "a,A\n1,2\n");
    await expect(load({ path: csv, query })).rejects.toThrow(
      "alike.csv: DuckDB cannot tell the names a and A apart",
    );
    const fields = join(import.meta.dirname, "../../fixtures/tables/fields-alike.parquet");
    await expect(load({ path: fields })).rejects.toThrow("DuckDB cannot tell the names k and K apart");
  });

  test("lines that a reader cannot read are refused by their places, or left out", async () => {
    const columns = { prompt: "q", groundTruth: "a" };
    const csv = written("torn.csv", "q,a\n1+1?,2\n3\n4,5,6\n2+2?,4\n");
    await expect(load({ path: csv, columns })).rejects.toThrow(
      /torn\.csv:3: Expected Number of Columns: 2 Found: 1\n.*torn\.csv:4: Expected Number of Columns: 2 Found: 3/,
    );
    const kept = await load({ path: csv, columns, badRows: "skip" });
    expect(kept.map(({ reward_model: { ground_truth: truth } }) => truth)).toEqual(["2", "4"]);
    expect(leftOutRows(kept)).toMatchObject({
      count: 2,
      problems: [expect.stringContaining(":3: "), expect.stringContaining(":4: ")],
    });
    const jsonl = written("torn.jsonl", `${task("{}")}\n{"data_source":\n${task("{}")}\n`);
    await expect(load({ path: jsonl })).rejects.toThrow("torn.jsonl:2:1");
    expect(await load({ path: jsonl, badRows: "skip" })).toHaveLength(2);
    const list = written("torn.json", `[${task("{}")}, ${task('{"x": NaN}')},\n, ${task("{}")}]`);
    await expect(load({ path: list })).rejects.toThrow("JSON has no NaN in extra_info.x.");
    expect(await load({ path: list, badRows: "skip" })).toHaveLength(2);
    const cut = written("cut.json", `[${task("{}")}, {"data_source": "d"`);
    await expect(load({ path: cut, badRows: "skip" })).rejects.toThrow("cut.json is not valid JSON");
    const query = "SELECT * FROM rows";
    await expect(load({ path: jsonl, query })).rejects.toThrow("torn.jsonl:2: ");
    const queried = await load({ path: jsonl, query, badRows: "skip" });
    expect([queried.length, leftOutRows(queried).count]).toEqual([2, 1]);
  });
});
