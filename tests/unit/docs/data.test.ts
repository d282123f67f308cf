import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDemonstrations } from "../../../src/plan/pipeline/read/demonstrations.ts";
import { parseTasks } from "../../../src/plan/tasks/parse-tasks.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/data.md"), "utf8");
const [task = "", chat = ""] = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, row]) => row);

test("the task of docs/data.md is one", () => {
  expect(parseTasks(task, "docs/data.md")).toMatchObject([{ reward_model: { ground_truth: "42" } }]);
});

test("the demonstration of docs/data.md is one, whose answer knows its tool", async () => {
  const path = join(temporaryFolder(), "demonstrations.jsonl");
  writeFileSync(path, chat);
  const [demonstration] = await readDemonstrations(path);
  expect(demonstration?.messages.map(({ role, name }) => [role, name])).toEqual([
    ["user", undefined],
    ["assistant", undefined],
    ["tool", "calculator"],
    ["assistant", undefined],
  ]);
});
