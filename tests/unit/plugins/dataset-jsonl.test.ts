import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import dataset from "../../../plugins/dataset-jsonl/index.ts";

const row = {
  data_source: "test",
  prompt: [{ role: "user", content: "1 + 1" }],
  reward_model: { ground_truth: "2" },
};

async function refused(text: string): Promise<string> {
  const path = written(text);
  const loading = Promise.resolve(dataset.load({ path }));
  const message = await loading.then(
    () => "accepted",
    (error: Error) => error.message,
  );
  return message.replaceAll(path, "tasks.jsonl");
}

function written(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "everturn-tasks-")), "tasks.jsonl");
  writeFileSync(path, text);
  return path;
}

describe("dataset-jsonl", () => {
  it("reads the project's own tasks", async () => {
    const path = join(import.meta.dirname, "../../../pipelines/calculator/chain-sum-small.val.jsonl");
    const tasks = await dataset.load({ path });
    expect(tasks).toHaveLength(300);
    expect(tasks[0]?.reward_model.ground_truth).toMatch(/^-?\d+$/);
  });

  it("takes the first rows, in order, and skips blank lines", async () => {
    const rows = [1, 2, 3].map((index) => JSON.stringify({ ...row, extra_info: { index } }));
    const tasks = await dataset.load({ path: written(`${rows.join("\n\n")}\n`), limit: 2 });
    expect(tasks.map((task) => task.extra_info?.index)).toEqual([1, 2]);
  });

  it("says where a row isn't JSON", async () => {
    const text = `${JSON.stringify(row)}\n{"data_source": "test", prompt: []}\n`;
    expect(await refused(text)).toMatchInlineSnapshot(`
      "tasks.jsonl: 1 problem found:
      tasks.jsonl:2:25: not valid JSON: a key isn't in double quotes. Put it in ".
      Correct it and run again."
    `);
  });

  it("says where a row isn't a task, for all rows at once", async () => {
    const nameless = JSON.stringify({ ...row, reward_model: {} });
    const numeric = JSON.stringify({ ...row, reward_model: { ground_truth: 2 } });
    expect(await refused(`${nameless}\n\n${numeric}`)).toMatchInlineSnapshot(`
      "tasks.jsonl: 2 problems found:
      tasks.jsonl:1:68: reward_model lacks “ground_truth”. Add “ground_truth”: The expected final answer.
      tasks.jsonl:3:99: reward_model.ground_truth must be text, but is 2. The expected final answer.
      Correct it and run again."
    `);
  });
});
