import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTrajectories } from "../../activities/run-trajectories.ts";
import type { ReserveGroupsInput, RunMembersInput, ScoreInput } from "../../src/contracts/activities.ts";
import type { GenerateTurnInput } from "../../src/contracts/generate-turn.ts";
import type { ShardInput, TrajectorySummary } from "../../src/contracts/rollout.ts";
import { durable } from "../../src/control/temporal/durable.ts";
import { type LocalEnds, localEnds } from "../../src/control/temporal/local-ends.ts";
import { watchThreads } from "../../src/control/temporal/thread-requests.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../src/run/folder/open-runs.ts";
import { samplePlan } from "../support/sample-plan.ts";
import { stepSettings } from "../support/step-settings.ts";
import { taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWorkflows, type WorkflowWorker } from "../support/workflow-worker.ts";
import { writeScore } from "../support/written-score.ts";

const queue = "shards";
const queues = { orchestration: queue, policy: queue, tools: queue, trainer: queue };
const settings = stepSettings;
const runs = temporaryFolder();
let stopping = new AbortController();
const openRun = openRuns(runs);
const run = (input: RunMembersInput) =>
  durable(runTrajectories(openRun, { stopping: stopping.signal, ends }))(input);
const observer = localEnds(10_000);
const threads = watchThreads([observer.watch]);
/** The runs whose ends this process was asked for, and whether it knew them. */
let asked: { runId: string; isKnown: boolean }[] = [];
const ends: LocalEnds = {
  resultOf: async <Result>(runId: string) => {
    const end = await observer.resultOf<Result>(runId);
    asked.push({ runId, isKnown: end !== undefined });
    return end;
  },
};
let worker: WorkflowWorker;

/** Trajectories whose turn is being generated, and the most at once. */
let generating = 0;
let most = 0;
let generated: string[] = [];
/** Resolves when the turns may end. */
let gate: Promise<void> = Promise.resolve();
/** Resolves when the activities that scored may end. */
let scoresGate: Promise<void> = Promise.resolve();
let scored = 0;
let attempts = 0;
/** Attempts that end once all trajectories have begun, as if their worker had died. */
let failing = 0;
/** Whether they end only once all trajectories have their scores. */
let failsLate = false;

beforeAll(async () => {
  const workflow = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
  await createRunFolder(plan, { runs, id: "run" });
  worker = await startWorkflows({
    onWorker: observer.follow,
    folder: temporaryFolder(),
    queue,
    loop: { name: "loop-tool-agent", workflow },
    activities: {
      "reserve-groups": async ({ groups }: ReserveGroupsInput) => groups.map(({ task }) => task),
      "load-task": async ({ place }: { place: { task: string } }) => taskOf(place.task),
      "run-trajectories": async (input: RunMembersInput) => {
        attempts += 1;
        if (attempts > failing) return run(input);
        run(input).catch(() => {});
        await expect
          .poll(() => (failsLate ? scored : generating), { timeout: 60_000 })
          .toBe(input.trajectories.length);
        throw new Error("its worker died");
      },
      "generate-turn": async ({ place }: GenerateTurnInput) => {
        generating += 1;
        most = Math.max(most, generating);
        try {
          await Promise.race([gate, Context.current().cancelled]);
        } finally {
          generating -= 1;
        }
        generated.push(place.id);
        return {
          action: "done",
          finishReason: "stop",
          head: "a".repeat(64),
          policyVersion: 0,
          tokens: { prompt: 1, action: 1, observation: 0 },
          seconds: 0,
        };
      },
      "score-trajectory": async ({ place }: ScoreInput) => {
        const score = { reward: 1, success: true };
        await writeScore((await openRun("run")).store, place, score);
        scored += 1;
        await scoresGate;
        return score;
      },
      "record-left-out": async () => {},
    },
  });
});
afterAll(async () => {
  await worker.stop();
  threads.stop();
});

/** Starts the shard of a step whose trajectories wait at the gate. */
async function startShard(step: number, concurrency: number) {
  attempts = 0;
  asked = [];
  generated = [];
  most = 0;
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const stage = `step-000${step}`;
  const input: ShardInput = {
    run: "run",
    settings,
    queues,
    quickTurns: true,
    startsHere: true,
    newest: false,
    source: "training",
    concurrency,
    groups: ["a", "b"].map((task) => ({ step, stage, task, samples: [0, 1] })),
    policyVersion: 0,
    admitter: { workflow: "run", execution: "another" },
  };
  const shard: WorkflowHandle<() => Promise<TrajectorySummary[]>> = await worker.client.workflow.start(
    "shard",
    {
      workflowId: `run/${stage}/shard-1`,
      taskQueue: queue,
      args: [input],
    },
  );
  await expect.poll(() => generating, { timeout: 60_000 }).toBe(Math.min(4, concurrency));
  const ids = ["a/0", "a/1", "b/0", "b/1"].map((name) => `run/${stage}/${name}`);
  return { shard, ids, open };
}

const described = async (id: string) => worker.client.workflow.getHandle(id).describe();
const statusOf = async (id: string) => (await described(id)).status.name;

test("a worker starts the trajectories of a shard itself, as many at once as allowed, each with its first task", async () => {
  const { shard, ids, open } = await startShard(1, 2);
  open();
  const results = await shard.result();
  expect(results.map(({ trajectory }) => trajectory).sort()).toEqual(ids);
  expect(results.every(({ reward, outcome }) => reward === 1 && outcome === "answered")).toBe(true);
  expect(most).toBe(2);
  expect(generated.sort()).toEqual(ids);
  const { raw, searchAttributes } = await described(`run/step-0001/a/0`);
  expect(raw.workflowExecutionInfo?.parentExecution ?? undefined).toBeUndefined();
  expect(searchAttributes).toMatchObject({ EverturnRun: ["run"], EverturnTask: ["a"], EverturnReward: [1] });
  const { events = [] } = await worker.client.workflow.getHandle("run/step-0001/a/0").fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).toBe(true);
});

test("only the server knows the ends of trajectories that somebody else ended", async () => {
  const { shard, ids, open } = await startShard(8, 4);
  const [first = "", ...others] = ids;
  await worker.client.workflow.getHandle(first).terminate("somebody else ends it");
  const ended = await Promise.all(others.map(async (id) => (await described(id)).runId));
  open();
  const results = await shard.result();
  expect(
    asked
      .filter(({ isKnown }) => isKnown)
      .map(({ runId }) => runId)
      .sort(),
  ).toEqual(ended.sort());
  expect(results.map(({ trajectory }) => trajectory).sort()).toEqual(ids);
  expect(results.filter(({ outcome }) => outcome === "answered")).toHaveLength(3);
});

test("the next attempt goes on with the trajectories of one whose worker died, and each counts once", async () => {
  failing = 1;
  const { shard, ids, open } = await startShard(2, 4);
  const executions = async () => Promise.all(ids.map(async (id) => (await described(id)).runId));
  const before = await executions();
  await expect.poll(() => attempts, { timeout: 60_000 }).toBe(2);
  open();
  const results = await shard.result();
  failing = 0;
  expect(results.map(({ trajectory }) => trajectory).sort()).toEqual(ids);
  expect(await executions()).toEqual(before);
  expect(generated.sort()).toEqual(ids);
});

test("the next attempt waits for workflows whose trajectories are recorded, so that none stays open", async () => {
  let openScores = () => {};
  scoresGate = new Promise((resolve) => {
    openScores = resolve;
  });
  [failing, failsLate, scored] = [1, true, 0];
  const { shard, ids, open } = await startShard(7, 4);
  open();
  await expect.poll(() => attempts, { timeout: 60_000 }).toBe(2);
  [failing, failsLate] = [0, false];
  const results = shard.result();
  // Long enough for an attempt that only reads the records.
  const hasEnded = await Promise.race([results.then(() => true), sleep(1500, false)]);
  openScores();
  expect(hasEnded).toBe(false);
  expect((await results).map(({ trajectory }) => trajectory).sort()).toEqual(ids);
  expect(await Promise.all(ids.map(statusOf))).toEqual(ids.map(() => "COMPLETED"));
});

test("an attempt whose worker takes no new work ends at once, and the next one goes on", async () => {
  const { shard, ids, open } = await startShard(6, 4);
  const first = stopping;
  stopping = new AbortController();
  first.abort();
  await expect.poll(() => attempts, { timeout: 60_000 }).toBe(2);
  open();
  expect((await shard.result()).map(({ trajectory }) => trajectory).sort()).toEqual(ids);
  expect(generated.sort()).toEqual(ids);
});

test.each([
  { end: "terminate", step: 3 },
  { end: "cancel", step: 5 },
] as const)("the trajectories of a shard end with it: $end", async ({ end, step }) => {
  const { shard, ids, open } = await startShard(step, 4);
  await shard[end]();
  for (const id of ids) await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe("TERMINATED");
  open();
});

test("a trajectory that is still open is replaced, and the end of the earlier shard leaves the new one alone", async () => {
  const first = await startShard(4, 4);
  const before = (await described(first.ids[0] ?? "")).runId;
  await first.shard.terminate();
  first.open();
  const { shard, ids, open } = await startShard(4, 4);
  open();
  expect((await shard.result()).map(({ outcome }) => outcome)).toEqual(ids.map(() => "answered"));
  expect((await described(ids[0] ?? "")).runId).not.toBe(before);
});
