import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { ToolHostChange } from "../../src/contracts/tool-host-change.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { scriptedPolicy } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { countingServer } from "../support/verifiers-harness.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-verifiers-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "environment.yaml");
const tasks = join(runs, "tasks.jsonl");
const rows = Array.from({ length: 6 }, (_, idx) => ({ idx, prompt: `Reach ${3 + idx}.`, target: 3 + idx }));
writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

afterAll(() => rm(runs, { recursive: true, force: true }));

const add = (amount: number) =>
  `<tool_call>${JSON.stringify({ name: "add", arguments: { amount } })}</tool_call>`;
const conversations = [[add(1), add(2), "I stop."]];

async function run(address: string) {
  const settings = {
    policy: scriptedPolicy({ conversations }),
    environment: { plugin: "environment-verifiers", config: { address, tasks } },
    loop: { config: { attempts: 2 } },
    hosts: {
      "environment-verifiers": { failures: 4, pause: "200ms", longestPause: "200ms", patience: "10s" },
    },
    rollout: { batchSize: 12, groupSize: 2, minGroup: 1, maxInfrastructureFailures: 1, maxActionTokens: 200 },
    evaluation: { every: 0, tasks: 1 },
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => [
    "--set",
    `${key}=${JSON.stringify(value)}`,
  ]);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...flags);
  expect(code, stderr + stdout).toBe(0);
  const id = lastLine<{ run: string }>(stdout).run;
  const folder = runFolder(runs, id);
  const changes = await readLines<ToolHostChange>(folder.hosts);
  return { id, changes, records: await stageRecords(folder.root, "step-0001") };
}

const targetOf = ({ task }: Trajectory) => Object(task.extra_info?.verifiers).target;

test("a server's episodes become trajectories: its harness asks the policy, and its verdict is the reward", async () => {
  const { address } = await countingServer(() => false);
  const { id, records } = await run(address);
  expect(records).toHaveLength(12);
  for (const record of records) {
    const isReached = targetOf(record) === 3;
    expect(record).toMatchObject({
      outcome: "answered",
      answer: "I stop.",
      reward: isReached ? 1 : 0,
      success: isReached,
      metrics: { steps: 2, reached: isReached ? 1 : 0 },
    });
    const calls = record.turns.flatMap(({ toolCalls }) => toolCalls);
    expect(calls).toMatchObject([
      { tool: "add", arguments: { amount: 1 }, observation: "1" },
      { tool: "add", arguments: { amount: 2 }, observation: "3" },
    ]);
  }
  const { code, stdout, stderr } = await everturn("rescore", id, "--runs", runs, "--json");
  expect(code, stderr).toBe(0);
  expect(stdout, "the recorded verdicts give the same scores").toContain('"changed":0');
});

test("episodes that can't begin are left out, and open the breaker; the others train", async () => {
  const { address } = await countingServer((index) => index !== 0);
  const { changes, records } = await run(address);
  const left = records.filter(({ outcome }) => outcome === "left-out");
  expect(left.length).toBeGreaterThan(0);
  for (const { failure } of left) expect(failure).toContain("the simulator did not start");
  expect(changes[0]).toMatchObject({ state: "paused", host: "environment-verifiers" });
  expect(changes[0]?.reason).toContain("the simulator did not start");
  const scored = records.filter(({ outcome }) => outcome !== "left-out");
  expect(scored.map(targetOf)).toEqual(scored.map(() => 3));
  expect(scored.map(({ reward }) => reward)).toEqual(scored.map(() => 1));
});
