import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readLines } from "../../src/files/line-file.ts";
import { type RunFolder, runFolder } from "../../src/runs/run-folder.ts";
import { lastLine, start } from "../support/command.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-kill-"));
const callLog = join(runs, "calls.log");
const plugins = join(import.meta.dirname, "..", "plugins");
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const kills = Number(process.env.EVERTURN_KILLS ?? 3);

afterAll(() => rm(runs, { recursive: true, force: true }));

/** What is finished for good (it stands in the journal), and the log of what was done. */
interface Snapshot {
  turns: Set<string>;
  calls: Set<string>;
  generated: string[];
  executed: string[];
}

function snapshot(folder: RunFolder): Snapshot {
  const root = join(folder.root, "trajectories");
  const files = existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : [];
  const keys = (pattern: RegExp) => new Set(files.filter((file) => pattern.test(file)).map(keyOf));
  return {
    turns: keys(/turn-\d+\.json$/),
    calls: keys(/turn-\d+-call-\d+\.json$/),
    generated: linesOf(join(folder.root, "generations.log")),
    executed: linesOf(callLog).map((key) => key.split("/").slice(1).join("/")),
  };
}

/** `step-0001/task-00017/0/turn-2-call-0.json` → `step-0001/task-00017/0/2/0`. */
function keyOf(file: string): string {
  return file.replace("turn-", "").replace("-call-", "/").replace(".json", "");
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
}

test("a run killed at random moments ends; nothing finished is done again", async () => {
  const overrides = [
    `policy.plugin=${plugins}/policy-logged`,
    `tools.0.plugin=${plugins}/tool-counting`,
    `tools.0.config.log=${callLog}`,
  ].flatMap((override) => ["--set", override]);
  let command = start("run", pipeline, "--runs", runs, "--json", ...overrides);
  const snapshots: Snapshot[] = [];
  while (snapshots.length < kills) {
    // A folder with this file is a run, which can be resumed.
    const isRun = (name: string) => name.startsWith("small-") && existsSync(join(runs, name, "run.json"));
    await vi.waitUntil(() => readdirSync(runs).some(isRun), {
      timeout: 400_000,
    });
    const moment = 1_000 + Math.random() * 4_000;
    if ((await Promise.race([command.end(), sleep(moment)])) !== undefined) break;
    command.killGroup();
    await command.end();
    const killed = newestRun();
    snapshots.push(snapshot(killed.folder));
    command = start("resume", killed.run, "--runs", runs, "--json");
  }
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);

  const { run, folder } = newestRun();
  const end = snapshot(folder);
  expect(end.generated.length, "generations in the log").toBeGreaterThan(0);
  for (const before of snapshots) {
    const generated = end.generated.slice(before.generated.length);
    const executed = end.executed.slice(before.executed.length);
    expect(generated.filter((key) => before.turns.has(key))).toEqual([]);
    expect(executed.filter((key) => before.calls.has(key))).toEqual([]);
  }
  const records = await readLines<StepRecord>(folder.metrics);
  expect(records.map((record) => record.step)).toEqual([1, 2, 3]);
  expect(records.map((record) => record.trajectories + record.leftOut)).toEqual([16, 16, 16]);
  expect(records.map((record) => record.leftOut)).toEqual([0, 0, 0]);
  expect(lastLine<{ run: string; trajectories: number }>(stdout)).toMatchObject({
    run,
    steps: 3,
    trajectories: 48,
  });
  expect(snapshots.length, "the run ended before it was killed").toBeGreaterThan(0);
  expect(end.executed.length, "no tool was called").toBeGreaterThan(0);
});

function newestRun(): { run: string; folder: RunFolder } {
  const run = readdirSync(runs).find((name) => name.startsWith("small-"));
  if (run === undefined) throw new Error("the run was killed before it had a folder");
  return { run, folder: runFolder(runs, run) };
}
