import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import { namesIn } from "../../src/base/files/names-in.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { killAll } from "../support/processes.ts";
import { callsRecorded, leasesOf, sessionLog, sessionsOf } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";

const folder = mkdtempSync(join(tmpdir(), "everturn-tool-session-"));
const runs = join(folder, "runs");
const gates = join(folder, "gates");
const log = join(folder, "sessions.log");
const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");
const plugins = join(import.meta.dirname, "..", "plugins");

let command: RunningCommand | undefined;

afterAll(async () => {
  killIfRunning(command);
  for (const run of await namesIn(runs)) killAll(sessionsOf(run), "SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** Each trajectory adds to its session's number, call by call; the last two calls are of one action. */
const added = [[1], [10], [100], [1000], [2, 3]];
const sums = ["x = 1", "x = 11", "x = 111", "x = 1111", "x = 1113", "x = 1116"];

/** Of each group a trajectory for each way to recover, by the name of its tool. */
const tools = ["session", "session-snapshot", "session-fail"];
const conversations = tools.map((name) => [...added.map((numbers) => callsOf(name, numbers)), "done"]);
const groups = 2;

function callsOf(name: string, numbers: number[]): string {
  const calls = numbers.map((add) => ({ name, arguments: { variable: "x", add } }));
  return calls.map((call) => `<tool_call>${JSON.stringify(call)}</tool_call>`).join("");
}

const gate = (turn: number) => join(gates, `step-0001-turn-${turn}`);
const waiting = { timeout: 250_000, interval: 20 };

test("a tools worker killed between calls: states are recovered as manifests say, lost ones are told, no process is left", async () => {
  mkdirSync(gates);
  for (const turn of [3, 5]) writeFileSync(gate(turn), "");
  const settings = [
    "name=session",
    `policy.config.conversations=${JSON.stringify(conversations)}`,
    `policy.config.gates=${gates}`,
    `tools=${JSON.stringify(tools.map((name) => ({ plugin: join(plugins, `tool-${name}`), config: { log } })))}`,
    `rollout.batchSize=${groups * tools.length}`,
    `rollout.groupSize=${tools.length}`,
    "rollout.minGroup=1",
    "rollout.maxInfrastructureFailures=1",
    "evaluation.tasks=1",
  ].flatMap((setting) => ["--set", setting]);
  command = start("run", pipeline, "--runs", runs, "--workers", "separate", ...settings);
  const run = await vi.waitUntil(async () => (await namesIn(runs))[0], waiting);
  const place = runFolder(runs, run);

  const killed = [await killAfter(2, groups * tools.length), await killAfter(4, groups * (tools.length - 1))];
  const { code, stderr, stdout } = await command.end();
  expect(code, stderr + stdout).toBe(0);
  expect(new Set(killed).size).toBe(2);
  const [step] = await readLines<StepRecord>(place.metrics);
  expect(step).toMatchObject({ trajectories: groups * (tools.length - 1), leftOut: groups });
  const records = await stageRecords(place.root, "step-0001");
  expect(records).toHaveLength(groups * tools.length);
  for (const { outcome, turns, failure } of records) {
    if (outcome === "left-out") expect(failure).toContain("lost its state");
    else expect(turns.flatMap((one) => one.toolCalls.map(({ observation }) => observation))).toEqual(sums);
  }
  // At each kill, those that replay make the calls before it again: 2, then 4.
  expect(sessionLog(log).filter(({ what }) => what === "replay")).toHaveLength(groups * (2 + 4));
  expect(leasesOf(place)).toEqual([]);
  expect(sessionsOf(basename(place.root))).toEqual([]);

  /** Kills the worker once so many trajectories have made their calls of a turn, and lets the next turn begin. */
  async function killAfter(turn: number, count: number): Promise<number> {
    await vi.waitUntil(() => callsRecorded(place, "step-0001", turn) === count, waiting);
    const owner = leasesOf(place)[0]?.owner.pid;
    if (owner === undefined) throw new Error("no worker holds an instance");
    process.kill(owner, "SIGKILL");
    rmSync(gate(turn + 1));
    return owner;
  }
});
