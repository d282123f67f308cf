import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import { openRun } from "../../src/runs/open-runs.ts";
import { type RunFolder, runFolder } from "../../src/runs/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { folderOf } from "../support/versions.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const callLog = join(folder, "calls.log");
const call = (expression: string) =>
  `<tool_call>{"name":"calculator","arguments":{"expression":"${expression}"}}</tool_call>`;

/** Longer than one history of a trajectory: it continues as new. */
const unreadable = Array.from({ length: 252 }, () => "<tool_call>?</tool_call>");
const conversation = [call("1 + 1"), call("2 * 3"), ...unreadable, call("7 * 7"), "49"];
const turns = conversation.length;

let run: string;
let paths: RunFolder;
const original = "evaluation-v0000/task-00000/0";

beforeAll(async () => {
  const plugin = join(import.meta.dirname, "..", "plugins", "tool-counting");
  const pipeline = writeScriptedPipeline(folder, [conversation], {
    tools: [{ plugin, config: { log: callLog } }],
    steps: 0,
    rollout: { batchSize: 1, maxActionTokens: 200 },
  });
  const { code, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(stderr).not.toContain("Error");
  expect(code).toBe(0);
  run = readdirSync(runs)[0] ?? "";
  paths = runFolder(runs, run);
});

const fileOf = (end: string, name: string) =>
  readFileSync(join(paths.root, "trajectories", end, name), "utf8");
const recordOf = (end: string): TrajectoryRecord =>
  storedRecord(join(paths.root, "trajectories", end, "trajectory.json"));
const calls = () => readFileSync(callLog, "utf8").trim().split("\n");

async function fork(...options: string[]) {
  const { stdout, stderr } = await everturn(
    "fork",
    `${run}/${original}`,
    ...options,
    "--runs",
    runs,
    "--json",
  );
  expect(stderr).toBe("");
  return lastLine<{ fork: string; rewardMean: number; original: object; trajectories: object[] }>(stdout);
}

test("a fork has the first turns byte for byte and calls nothing again; it is sampled as before", async () => {
  const before = calls();
  expect(before).toHaveLength(3);
  const made = await fork("--turn", "254", "--count", "2", "--temperature", "0");
  expect(made).toMatchObject({
    fork: "fork-0001",
    original: { trajectory: `${run}/${original}`, outcome: "answered", turns },
    trajectories: [
      { trajectory: `${run}/fork-0001/task-00000/0`, outcome: "answered", turns },
      { trajectory: `${run}/fork-0001/task-00000/1`, outcome: "answered", turns },
    ],
  });
  const end = `${made.fork}/task-00000/1`;
  for (const name of ["turn-1.json", "turn-1-call-0.json", "turn-2-call-0.json", "turn-254.json"]) {
    expect(fileOf(end, name)).toBe(fileOf(original, name));
  }
  // The last call is the forks' own: one each. Those of the first two turns were not made again.
  const made2 = calls().slice(before.length);
  expect(made2.map((key) => key.replace(run, "")).sort()).toEqual([
    "/fork-0001/task-00000/0/255/0",
    "/fork-0001/task-00000/1/255/0",
  ]);
  const [first, second] = [recordOf(original), recordOf(end)];
  expect(second.head).toBe(first.head); // the same policy, greedily: the same tokens to the end
  expect(second.turns).toEqual(first.turns);
  expect(second.origin).toEqual({
    ...{ trajectory: `${run}/${original}`, turns: 254, temperature: 0, seed: 1 },
  });
});

test("another policy goes on from a turn; what can't be forked is refused", async () => {
  const policy = await folderOf(await openRun(runs, run), 0);
  const made = await fork("--turn", "253", "--policy", policy, "--seed", "5");
  const record = recordOf(`${made.fork}/task-00000/0`);
  expect(record.policyVersions).toEqual([...Array(253).fill(0), 1, 1, 1]);
  expect(record.origin).toMatchObject({ turns: 253, seed: 5, policyFolder: policy });
  expect(fileOf(`${made.fork}/task-00000/0`, "turn-1.json")).toBe(fileOf(original, "turn-1.json"));
  const shown = await everturn("show", `${run}/${made.fork}/task-00000/0`, "--runs", runs);
  expect(shown.stdout).toContain(
    `fork of ${run}/${original} after turn 253: temperature 0, seed 5, policy ${policy}`,
  );
  const late = await everturn("fork", `${run}/${original}`, "--turn", String(turns), "--runs", runs);
  expect(late.stderr).toMatch(/TURN_NOT_FORKABLE: .* it has 256 turns\. .* 255 is the most/);
  const unknown = await everturn(
    "fork",
    `${run}/${original}`,
    "--turn",
    "1",
    "--policy",
    "7",
    "--runs",
    runs,
  );
  expect(unknown.stderr).toContain("POLICY_NOT_FOUND");
});

test("a trajectory that continued as new is replayed with all its histories", async () => {
  const { stdout } = await everturn("replay", `${run}/${original}`, "--runs", runs, "--json");
  expect(lastLine(stdout)).toMatchObject({ deterministic: true, histories: 2 });
});
