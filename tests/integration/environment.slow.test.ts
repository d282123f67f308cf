import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-environment-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "environment.yaml");

afterAll(() => rm(runs, { recursive: true, force: true }));

test("a run in an environment: its loop opens each episode, its tool ends it, its reward scores it", async () => {
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(code, stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(stdout);
  const records = await stageRecords(runFolder(runs, run).root, "step-0001");
  expect(records).toHaveLength(4);
  for (const { task, turns, reward, success, outcome } of records) {
    const target = Number(task.reward_model.ground_truth);
    const calls = turns.flatMap(({ toolCalls }) => toolCalls);
    expect(calls.slice(0, 3)).toMatchObject([
      { tool: "reset", byLoop: true, observation: `The count is 0 of ${target}.` },
      { tool: "add", observation: `The count is 2 of ${target}.` },
      { tool: "add", observation: `The count is 5 of ${target}.` },
    ]);
    expect([reward, success]).toEqual(target === 5 ? [1, true] : [0, false]);
    expect(outcome === "done").toBe(target === 5);
  }
});
