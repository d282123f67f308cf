import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import { openRun } from "../../src/runs/open-runs.ts";
import { bundleOf, readBuilds } from "../../src/temporal/workflow-builds.ts";
import { readTrajectoryRecord } from "../../src/trajectory/trajectory-files.ts";
import { everturn, lastLine } from "../support/command.ts";
import { historiesOf, type RecordedHistory } from "../support/histories.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const turns = 260;
const call = '<tool_call>{"name":"calculator","arguments":{"expression":"1 + 1"}}</tool_call>';

let run: string;
let id: string;
let histories: RecordedHistory[];

/** A step and two evaluations, of one trajectory each that calls the calculator for ever. */
beforeAll(async () => {
  const pipeline = writeScriptedPipeline(folder, [[call]], {
    tools: [{ plugin: "tool-calculator" }],
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 10_000 } },
    rollout: { batchSize: 1, groupSize: 1, limits: { turns, turnTime: "1m" } },
    evaluation: { every: 1, tasks: 1 },
  });
  const done = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(done.code, done.stderr).toBe(0);
  ({ run } = lastLine<{ run: string }>(done.stdout));
  histories = await historiesOf((await openRun(runs, run)).folder);
  id = idIn("step-0001");
});

/** The id of the stage's trajectory: run, stage, task, sample. */
function idIn(stage: string): string {
  const found = histories.find(({ workflowId }) => new RegExp(`/${stage}/[^/]+/0$`).test(workflowId));
  return found?.workflowId ?? `no trajectory in ${stage}`;
}

/** The histories of a trajectory, the first one first. */
function partsOf(workflowId: string): RecordedHistory[] {
  return histories.filter((history) => history.workflowId === workflowId).reverse();
}

async function recordOf(): Promise<TrajectoryRecord | undefined> {
  const [stage = "", task = "", sample = ""] = id.split("/").slice(1);
  return readTrajectoryRecord((await openRun(runs, run)).store, { stage, task, sample: Number(sample) });
}

test("a long trajectory continues as new between two turns, as the same one to whoever searches it", () => {
  // Turns of the evaluation had their way through the server, those of the step were taken on the spot.
  for (const stage of ["evaluation-v0000", "step-0001"]) {
    const parts = partsOf(idIn(stage));
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

test("what a long trajectory returns does not grow with its turns; the record has all of them", async () => {
  const ended = partsOf(id).at(-1)?.history.events?.at(-1)?.workflowExecutionCompletedEventAttributes;
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

  const record = await recordOf();
  expect(record).toMatchObject({ outcome: "turn-limit", policyVersions: Array(turns).fill(0) });
  const made = { tool: "calculator", arguments: { expression: "1 + 1" }, observation: "2", valid: true };
  expect(record?.turns).toHaveLength(turns);
  for (const turn of record?.turns ?? []) expect(turn).toMatchObject({ action: call, toolCalls: [made] });
});

test("a long trajectory is shown whole, and all parts of its history replay", async () => {
  const shown = lastLine<{ turns: unknown[]; segments: unknown[] }>(
    (await everturn("show", id, "--runs", runs, "--json")).stdout,
  );
  expect(shown.turns).toHaveLength(turns);
  expect(shown.segments).toHaveLength(2 * turns);
  const replayed = await everturn("replay", id, "--runs", runs, "--json");
  expect(lastLine(replayed.stdout)).toMatchObject({ deterministic: true });
});

test("every history of the run replays: the training, its shards and its trajectories", async () => {
  const { folder } = await openRun(runs, run);
  const [build = ""] = await readBuilds(folder);
  const replay = Worker.runReplayHistories(
    { workflowBundle: { codePath: bundleOf(folder, build) } },
    histories,
  );
  let replayed = 0;
  for await (const { workflowId, error } of replay) {
    expect(error, workflowId).toBeUndefined();
    replayed++;
  }
  expect(replayed).toBe(histories.length);
});
