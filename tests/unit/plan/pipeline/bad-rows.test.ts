import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const small = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
const good = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "..", "pipelines", "calculator", "chain-sum-small.val.jsonl"),
  "utf8",
).split("\n");

function check(rows: string[], badRows?: string) {
  const path = join(folder, "tasks.jsonl");
  writeFileSync(path, rows.join("\n"));
  const config = { path, badRows };
  return checkPipeline(small, { overrides: [`dataset.train.config=${JSON.stringify(config)}`] });
}

const some = [
  ...good.slice(0, 4),
  "{cut",
  "",
  ...good.slice(4, 8),
  '{"data_source": 1}',
  '{"data_source": 2}',
];

test("bad rows are refused, each thing once with its place", async () => {
  const refused = await check(some).catch((error) => error);
  expect(refused.message).toMatch(/tasks\.jsonl:5:\d+: not valid JSON/);
  expect(refused.message).toMatch(/tasks\.jsonl:11:\d+ and in 1 more row: data_source must be text/);
});

test("skipped rows are counted once, and told with their reasons; the others are the tasks", async () => {
  const { data, notes } = await check(some, "skip");
  expect(data.train).toHaveLength(8);
  expect(notes.join("\n")).toMatch(
    /^dataset\.train: 3 of 11 rows left out, as badRows says:\n {2}.*tasks\.jsonl:5:\d+: not valid JSON.*\n/,
  );
  expect((await check(good.slice(0, 8), "skip")).notes).toEqual([]);
});

test("a file without a good row is refused all the same", async () => {
  await expect(check(["{cut", '{"data_source": 1}'], "skip")).rejects.toThrow(
    /tasks\.jsonl:1:\d+: not valid JSON/,
  );
});
