import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readLines } from "../../src/files/line-file.ts";
import { type RunFolder, runFolder } from "../../src/runs/run-folder.ts";
import type { Lease } from "../../src/tools/leases.ts";
import { start } from "../support/command.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-tool-session-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");
const plugins = join(import.meta.dirname, "..", "plugins");

afterAll(() => rm(runs, { recursive: true, force: true }));

/** Each trajectory adds to its variable, call by call; the last two calls are of one action. */
const added = [[1], [10], [100], [1000], [2, 3]];
const sums = ["x = 1", "x = 11", "x = 111", "x = 1111", "x = 1113", "x = 1116"];
const actions = added.map((numbers) =>
  numbers
    .map((add) => ({ name: "session", arguments: { variable: "x", add } }))
    .map((call) => `<tool_call>${JSON.stringify(call)}</tool_call>`)
    .join(""),
);

/** A step of four trajectories with a session each; its tools worker is killed after each of these turns. */
async function runAndKill(plugin: string, killedAfter: number[]) {
  const log = join(runs, `${plugin}.log`);
  const settings = [
    "name=session",
    `policy.config.conversations=${JSON.stringify([[...actions, "done"]])}`,
    "policy.config.seconds=0.4",
    `tools=${JSON.stringify([{ plugin: join(plugins, plugin), config: { log } }])}`,
    "rollout.batchSize=4",
    "evaluation.tasks=1",
  ].flatMap((setting) => ["--set", setting]);
  const before = readdirSync(runs);
  const command = start("run", pipeline, "--runs", runs, "--workers", "separate", ...settings);
  const run = await vi.waitUntil(
    () => readdirSync(runs).find((name) => name.startsWith("session-") && !before.includes(name)),
    { timeout: 30_000 },
  );
  const folder = runFolder(runs, run);
  const killed: number[] = [];
  for (const turn of killedAfter) {
    await vi.waitUntil(() => journal(folder).some((file) => file.endsWith(`turn-${turn}-call-0.json`)), {
      timeout: 60_000,
      interval: 10,
    });
    const owner = leases(folder)[0]?.owner.pid;
    if (owner === undefined) throw new Error("no session is held");
    process.kill(owner, "SIGKILL");
    killed.push(owner);
  }
  const { code, stderr, stdout } = await command.end();
  const executed = readFileSync(log, "utf8").trim().split("\n");
  return { folder, code, output: stderr + stdout, executed, killed };
}

/** The journal of the step's calls. */
function journal({ root }: RunFolder): string[] {
  const stage = join(root, "trajectories", "step-0001");
  return existsSync(stage) ? readdirSync(stage, { recursive: true, encoding: "utf8" }) : [];
}

function leases({ leases: folder }: RunFolder): Lease[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
}

/** Session processes of trajectories of this folder of runs. */
function sessions(run: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return ""; // it has ended meanwhile
      }
    })
    .filter((command) => command.includes("session.ts") && command.includes(run));
}

for (const plugin of ["tool-session", "tool-session-snapshot"]) {
  test(`${plugin}: workers killed between calls leave the same observations, and no process`, {
    timeout: 180_000,
  }, async () => {
    const { folder, code, output, executed, killed } = await runAndKill(plugin, [2, 4]);
    expect(code, output).toBe(0);
    expect(new Set(killed).size).toBe(2);
    const [step] = await readLines<StepRecord>(folder.metrics);
    expect(step).toMatchObject({ trajectories: 4, leftOut: 0 });
    const trajectories = await stageRecords(folder.root, "step-0001");
    expect(trajectories).toHaveLength(4);
    for (const { turns } of trajectories) {
      const calls = turns.flatMap(({ toolCalls }) => toolCalls);
      expect(calls.map(({ observation }) => observation)).toEqual(sums);
    }
    const replayed = executed.filter((line) => line.includes("/step-0001/") && line.endsWith(" replay"));
    if (plugin === "tool-session") expect(replayed.length).toBeGreaterThan(0);
    else expect(replayed).toEqual([]);
    expect(leases(folder)).toEqual([]);
    expect(sessions(folder.root.split("/").at(-1) ?? "")).toEqual([]);
  });
}

test("tool-session-fail: a trajectory whose state is lost is left out and says so; the run goes on without it", {
  timeout: 180_000,
}, async () => {
  const { folder, output } = await runAndKill("tool-session-fail", [2]);
  const leftOut = (await stageRecords(folder.root, "step-0001")).filter(
    ({ outcome }) => outcome === "left-out",
  );
  expect(leftOut.length, output).toBeGreaterThan(0);
  for (const { failure } of leftOut) expect(failure).toContain("lost the state");
  expect(leases(folder)).toEqual([]);
  expect(sessions(folder.root.split("/").at(-1) ?? "")).toEqual([]);
});
