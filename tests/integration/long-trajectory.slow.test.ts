import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import { bundleOf, readBuilds } from "../../src/control/temporal/workflow-builds.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { everturn, lastLine } from "../support/command.ts";
import { historiesOf, type RecordedHistory } from "../support/histories.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { folderOf } from "../support/versions.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const callLog = join(folder, "calls.log");
/** Longer than one history of a trajectory: it continues as new. */
const turns = 256;
const call = '<tool_call>{"name":"calculator","arguments":{"expression":"1 + 1"}}</tool_call>';
/** What the samples of a group say: the first one little, the other one the same for ever. */
const conversations = [[call, call, "2"], [call]];
/** Which of them a fork's samples say. */
const picks = { "fork-0001": 1, "fork-0002": 0 };

let run: string;
let opened: OpenRun;
let original: string;
let firstFork: Fork;
let histories: RecordedHistory[];

interface Fork {
  fork: string;
  original: object;
  trajectories: { trajectory: string }[];
}

/** A step of one group, with a short trajectory and a long one, and a fork of that. */
beforeAll(async () => {
  const plugin = join(import.meta.dirname, "..", "plugins", "tool-counting");
  const pipeline = writeScriptedPipeline(folder, [], {
    policy: scriptedPolicy({ conversations, picks }),
    tools: [{ plugin, config: { log: callLog } }],
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 10_000 } },
    rollout: { batchSize: 2, groupSize: 2, limits: { turns } },
  });
  const done = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(done.code, done.stderr).toBe(0);
  ({ run } = lastLine<{ run: string }>(done.stdout));
  opened = await openRunFolder(runs, run);
  const listed = await everturn("trajectories", run, "--runs", runs, "--stage", "step-0001", "--json");
  const { trajectories } = lastLine<{ trajectories: { id: string }[] }>(listed.stdout);
  original = trajectories.find(({ id }) => id.endsWith("/1"))?.id ?? "";
  firstFork = await fork(original, "--turn", "254", "--temperature", "0");
  histories = await historiesOf(opened.folder);
});

/** The first fork of a trajectory. */
const forkOf = (id: string) => id.replace("step-0001", "fork-0001").replace(/1$/, "0");

/** The histories of a trajectory, the first one first. */
function partsOf(id: string): RecordedHistory[] {
  return histories.filter(({ workflowId }) => workflowId === id).reverse();
}

const pathOf = (id: string, name: string) =>
  join(opened.folder.root, "trajectories", id.slice(run.length), name);
const fileOf = (id: string, name: string) => readFileSync(pathOf(id, name), "utf8");
const recordOf = (id: string): Trajectory => storedRecord(pathOf(id, "trajectory.json"));

const forked = (id: string, ...options: string[]) =>
  everturn("fork", id, ...options, "--runs", runs, "--json");

async function fork(id: string, ...options: string[]): Promise<Fork> {
  const { code, stdout, stderr } = await forked(id, ...options);
  expect(code, stderr).toBe(0);
  return lastLine<Fork>(stdout);
}

test("a long trajectory continues as new between two turns, as the same one to whoever searches it", () => {
  for (const id of [original, forkOf(original)]) {
    const parts = partsOf(id);
    expect(parts).toHaveLength(2);
    const [first, second] = parts.map(
      ({ history }) => history.events?.[0]?.workflowExecutionStartedEventAttributes,
    );
    expect(second?.searchAttributes?.indexedFields).toMatchObject(
      first?.searchAttributes?.indexedFields ?? {},
    );
    const carried = second?.input?.payloads?.[0]?.data?.length ?? 0;
    expect(carried).toBeLessThan(20_000);
  }
});

test("what a long trajectory returns does not grow with its turns; the record has all of them", () => {
  const ended = partsOf(original).at(-1)?.history.events?.at(-1)?.workflowExecutionCompletedEventAttributes;
  const payload = ended?.result?.payloads?.[0]?.data;
  const result = JSON.parse(Buffer.from(payload ?? []).toString());
  expect(result).toMatchObject({
    outcome: "turn-limit",
    turnCount: turns,
    toolCalls: turns,
    validCalls: turns,
  });
  expect(result.turns.length).toBeLessThan(20);
  expect(payload?.length).toBeLessThan(20_000);

  const record = recordOf(original);
  expect(record).toMatchObject({ outcome: "turn-limit", policyVersions: Array(turns).fill(0) });
  const made = { tool: "calculator", arguments: { expression: "1 + 1" }, observation: "2", valid: true };
  expect(record.turns).toHaveLength(turns);
  for (const turn of record.turns) expect(turn).toMatchObject({ action: call, toolCalls: [made] });
});

test("a long trajectory is shown whole, and all parts of its history replay", async () => {
  const shown = lastLine<{ turns: unknown[]; segments: unknown[] }>(
    (await everturn("show", original, "--runs", runs, "--json")).stdout,
  );
  expect(shown.turns).toHaveLength(turns);
  expect(shown.segments).toHaveLength(2 * turns);
  const replayed = await everturn("replay", original, "--runs", runs, "--json");
  expect(lastLine(replayed.stdout)).toMatchObject({ deterministic: true, histories: 2 });
});

test("every history of the run replays: the training, its shards and its trajectories", async () => {
  const [build = ""] = await readBuilds(opened.folder);
  const replay = Worker.runReplayHistories(
    { workflowBundle: { codePath: bundleOf(opened.folder, build) } },
    histories,
  );
  let replayed = 0;
  for await (const { workflowId, error } of replay) {
    expect(error, workflowId).toBeUndefined();
    replayed++;
  }
  expect(replayed).toBe(histories.length);
});

test("a fork has the first turns byte for byte and calls nothing again; it is sampled as before", () => {
  const end = forkOf(original);
  expect(firstFork).toMatchObject({
    fork: "fork-0001",
    original: { trajectory: original, outcome: "turn-limit", turns },
    trajectories: [{ trajectory: end, outcome: "turn-limit", turns }],
  });
  for (const name of ["turn-1.json", "turn-1-call-0.json", "turn-2-call-0.json", "turn-254.json"]) {
    expect(fileOf(end, name)).toBe(fileOf(original, name));
  }
  const calls = readFileSync(callLog, "utf8").trim().split("\n");
  expect(calls.filter((key) => key.startsWith(`${original}/`))).toHaveLength(turns);
  // The last calls are the fork's own. Those of the turns that it began with were not made again.
  expect(calls.filter((key) => key.includes("/fork-0001/"))).toEqual([`${end}/255/0`, `${end}/256/0`]);
  const [first, second] = [recordOf(original), recordOf(end)];
  expect(second.head).toBe(first.head); // the same policy, greedily: the same tokens to the end
  expect(second.turns).toEqual(first.turns);
  expect(second.origin).toEqual({ trajectory: original, turns: 254, temperature: 0, seed: 1 });
});

test("another policy goes on from a turn; what can't be forked is refused", async () => {
  const policy = await folderOf(opened, 0);
  const begun = original.replace(/1$/, "0");
  const { trajectories } = await fork(
    begun,
    "--turn",
    "2",
    "--policy",
    policy,
    "--seed",
    "5",
    "--count",
    "2",
  );
  expect(trajectories).toHaveLength(2);
  const [{ trajectory } = { trajectory: "" }] = trajectories;
  const record = recordOf(trajectory);
  expect(record.policyVersions).toEqual([0, 0, 2]);
  expect(record.origin).toMatchObject({ turns: 2, seed: 5, policyFolder: policy });
  expect(fileOf(trajectory, "turn-1.json")).toBe(fileOf(begun, "turn-1.json"));
  const shown = await everturn("show", trajectory, "--runs", runs);
  expect(shown.stdout).toContain(`fork of ${begun} after turn 2: temperature 1, seed 5, policy ${policy}`);
  const late = await everturn("fork", original, "--turn", String(turns), "--runs", runs);
  expect(late.stderr).toMatch(/TURN_NOT_FORKABLE: .* it has 256 turns\. .* to 255\./);
  const unknown = await everturn("fork", original, "--turn", "1", "--policy", "7", "--runs", runs);
  expect(unknown.stderr).toContain("POLICY_NOT_FOUND");
});
