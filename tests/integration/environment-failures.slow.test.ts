import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { ToolHostChange } from "../../src/contracts/tool-host-change.ts";
import { groupAdvantages } from "../../src/engine/learning/group-advantages.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { type OpenenvServer, startOpenenv } from "../support/openenv-server.ts";
import { scriptedPolicy } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-environment-failures-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "environment.yaml");
const [tasks, groupSize, healthy] = [11, 4, 0];

let server: OpenenvServer;

beforeEach(async () => {
  server = await startOpenenv({ tasks });
});

afterEach(() => server.close());
afterAll(() => rm(runs, { recursive: true, force: true }));

const step = (amount: number) =>
  `<tool_call>${JSON.stringify({ name: "step", arguments: { amount } })}</tool_call>`;
/** Two of four trajectories of the healthy task reach its target, 3; no other task has it. */
const conversations = [[step(3)], [step(1), step(2)], [step(1), "I stop."], [step(20)]];

/** Its pauses are so short that each waiting call is a probe before the host's patience ends. */
const host = { failures: 5, pause: "20ms", longestPause: "20ms", patience: "5s" };

async function run() {
  const settings = [
    `policy=${JSON.stringify(scriptedPolicy({ conversations }))}`,
    `environment=${JSON.stringify({
      plugin: "environment-openenv",
      config: { url: server.url },
      validation: { limit: 1 },
      retry: { maximumAttempts: 2, initialInterval: "20ms" },
    })}`,
    `hosts=${JSON.stringify({ "environment-openenv": host })}`,
    `rollout=${JSON.stringify({ batchSize: tasks * groupSize, groupSize, minGroup: 1, maxInfrastructureFailures: 1, maxActionTokens: 200 })}`,
    "evaluation={ every: 0, tasks: 1 }",
  ].flatMap((setting) => ["--set", setting]);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...settings);
  expect(code, stderr + stdout).toBe(0);
  const folder = runFolder(runs, lastLine<{ run: string }>(stdout).run);
  const [record] = await readLines<StepRecord>(folder.metrics);
  const changes = await readLines<ToolHostChange>(folder.hosts);
  return { record, changes, records: await stageRecords(folder.root, "step-0001") };
}

const isLeftOut = ({ outcome }: Trajectory) => outcome === "left-out";
const ofHealthy = ({ task }: Trajectory) => Object(task.extra_info?.openenv).index === healthy;

/** The different advantages of the healthy task's trajectories, each with how often a group of them has it. */
function advantagesOf(records: readonly Trajectory[]): number[][] {
  const advantages = groupAdvantages(
    records.map(({ reward }) => reward ?? 0),
    records.map(({ taskId }) => taskId),
    false,
  );
  const own = advantages.filter((_, index) => records.slice(index, index + 1).some(ofHealthy));
  const groups = own.length / groupSize;
  return [...new Set(own)].sort().map((one) => [one, own.filter((other) => other === one).length / groups]);
}

test("an environment whose reset fails for 91 % of its episodes: they train nothing, and the others as without failures", async () => {
  const whole = await run();
  expect(whole.record).toMatchObject({ trajectories: tasks * groupSize, leftOut: 0 });

  server.faults.failsReset = (index) => index !== healthy;
  const failing = await run();
  const { trajectories = 0, leftOut = 0 } = failing.record ?? {};
  expect(leftOut / (leftOut + trajectories)).toBeGreaterThan(0.85); // groups without a member are replaced by others
  const left = failing.records.filter(isLeftOut);
  expect(left).toHaveLength(leftOut);
  for (const { failure } of left) expect(failure).toMatch(/the simulator did not start/);
  expect(failing.changes.map(({ state }) => state)).toContain("paused");
  expect(failing.changes[0]?.reason).toContain("the simulator did not start");

  const survivors = failing.records.filter((one) => !isLeftOut(one));
  expect(survivors.length).toBe(trajectories);
  expect(survivors.every(ofHealthy)).toBe(true);
  expect(advantagesOf(survivors)).toEqual(advantagesOf(whole.records));
  expect(advantagesOf(survivors)).toEqual([
    [-0.5, 2],
    [0.5, 2],
  ]);
  expect(server.sessions(), "no session is left").toBe(0);
});
