import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ahead } from "../../src/base/async/ahead.ts";
import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import { defined } from "../../src/base/records/defined.ts";
import type { Segment } from "../../src/contracts/generated/segment.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { BatchMember } from "../../src/contracts/ledger.ts";
import type { RecordedCall } from "../../src/contracts/recorded-call.ts";
import type { RunFile } from "../../src/contracts/run.ts";
import { stepStage } from "../../src/contracts/stages.ts";
import type { ServerStep } from "../../src/contracts/trainer.ts";
import { taskId } from "../../src/plan/tasks/run-tasks.ts";
import { stepIndices } from "../../src/plan/tasks/step-indices.ts";
import { reserve } from "../../src/results/ledger/reservations.ts";
import { writeMetrics } from "../../src/run/folder/metrics-view.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { segmentRef } from "../../src/run/projections/segment-ref.ts";
import {
  callKey,
  planRow,
  recordedStepKey,
  runFileKey,
  type TrajectoryName,
  trainedStepKey,
  trajectoryKey,
  turnKey,
} from "../../src/run/store/keys.ts";
import { openFolderStore, openStoreOf } from "../../src/run/store/open-run-store.ts";
import { samplePlan } from "./sample-plan.ts";
import { writeVersion } from "./versions.ts";

/** How large a made run is. */
export interface MadeRunOptions {
  steps: number;
  /** Of a step. */
  trajectories: number;
  turns: number;
  /** Of each segment. */
  tokens: number;
  /** The metrics of each trajectory. Default: none. */
  metrics?: Record<string, number>;
  /** `retention.singleRecords`; 3 unless it is said. */
  singleRecords?: number;
  /** The URL of its store, if that is not its folder. */
  store?: string;
  /** The requests to a training server that made a step's version. Default: no server trained it. */
  server?: (step: number) => ServerStep;
}

/** Rows of the validation file that the plan trains on. */
const rows = 300;
const queues = { orchestration: "o", policy: "p", tools: "t", trainer: "t" };

/**
 * Writes what a run leaves that trained without a policy: the records of its trajectories, and the commits of its steps, by
 * the store, in the form that activities give them. Its ledger holds. The same each time.
 */
export async function makeRun(runs: string, options: MadeRunOptions): Promise<OpenRun> {
  const { steps, trajectories } = options;
  const id = "made";
  const { root } = runFolder(runs, id);
  const settings = { steps, batchSize: trajectories, tasks: 6, warmStart: false, evaluationEvery: 0 };
  const { singleRecords = 3 } = options;
  const file = defined<RunFile>({
    run: id,
    createdAt: "2026-11-22T06:00:00.000Z",
    namespace: "default",
    queues,
    telemetry: false,
    store: options.store,
  });
  const store = openStoreOf(root, file);
  await store.record(planRow(1), { ...samplePlan(settings), retention: { singleRecords } });
  await openFolderStore(root).record(runFileKey, file);
  const run = await openRunFolder(runs, id);
  await writeVersion(run, 0);
  for (let step = 1; step <= steps; step++) await makeStep(run, step, options);
  await writeMetrics(run, steps);
  return run;
}

async function makeStep(run: OpenRun, step: number, options: MadeRunOptions): Promise<void> {
  const { store, plan } = run;
  const stage = stepStage(step);
  const all = Array.from({ length: rows }, () => ({ data_source: "made" }));
  const tasks = stepIndices(plan, all, step).map(taskId);
  const names = tasks.map((task, index) => {
    const sample = tasks.slice(0, index).filter((one) => one === task).length;
    return { stage, task, sample };
  });
  const groups = names.map(({ task, sample }) => ({ task, samples: [sample] }));
  await reserve(store, { stage, groups });
  const trained: BatchMember[] = [];
  const made = ahead(names, 16, (name) => makeTrajectory(run, name, step, options));
  for await (const trajectory of made) trained.push(trajectory);
  const metrics = { ...madeMetrics, learningRate: 1e-4 };
  await store.tree(
    trainedStepKey(step),
    async (folder) => {
      for (const part of ["policy", "trainer"]) {
        mkdirSync(join(folder, part));
        writeFileSync(join(folder, part, "weights"), String(step));
      }
    },
    () =>
      defined({
        step,
        from: step - 1,
        policyVersion: step,
        metrics,
        trajectories: trained,
        leftOut: [],
        seconds: 1,
        server: options.server?.(step),
      }),
  );
  const mean = trained.reduce((total, { reward }) => total + reward, 0) / trained.length;
  const record: StepRecord = {
    ...madeMetrics,
    step,
    policyVersion: step,
    staleness: 0,
    trajectories: trained.length,
    trajectoriesSoFar: step * trained.length,
    leftOut: 0,
    rewardMean: mean,
    successRate: mean,
    toolCallRate: 1,
    validCallRate: 1,
    turns: options.turns,
    learningRate: 1e-4,
    tokens: { prompt: 0, action: 0, observation: 0 },
    actionLength: options.tokens,
    seconds: { rollout: 2, train: 1, publish: 0.1, total: 3.1 },
  };
  await store.record(recordedStepKey(step), record, { flush: true });
}

const madeMetrics = {
  approximateKl: 0.001,
  entropy: 0.3,
  clipFraction: 0.02,
  policyLoss: -0.01,
  gradientNorm: 0.5,
  logprobGap: 1e-6,
};

async function makeTrajectory(
  { id: run, store }: OpenRun,
  name: TrajectoryName,
  step: number,
  { turns, tokens, metrics }: MadeRunOptions,
): Promise<BatchMember> {
  const { stage, task: taskName, sample } = name;
  const id = `${run}/${stage}/${taskName}/${sample}`;
  const uniform = createUniformStream({ seed: 1, trajectory: id, turn: 0 });
  let drawn = 0;
  const ids = () => Array.from({ length: tokens }, () => Math.floor(uniform(drawn++) * 512));
  const policyVersion = step - 1;
  const recorded: Trajectory["turns"] = [];
  let head: string | null = null;
  for (let turn = 1; turn <= turns; turn++) {
    const origin = turn === 1 ? "prompt" : "observation";
    const appended: Segment = {
      previous: head,
      origin,
      text: `${origin} ${"5 + 3 ".repeat(tokens / 4)}`,
      tokens: ids(),
    };
    const actionTokens = ids();
    const text: string = `turn ${turn}: ${"7 * 2 ".repeat(tokens / 4)}`;
    const action: Segment = {
      previous: segmentRef(appended),
      origin: "action",
      text,
      tokens: actionTokens,
      logprobs: actionTokens.map(() => Math.fround(-3 * uniform(drawn++))),
      policyVersion,
    };
    head = segmentRef(action);
    const counts = { prompt: 0, action: tokens, observation: 0, [origin]: tokens };
    await store.record(turnKey(name, turn), {
      callsBefore: turn === 1 ? 0 : 1,
      appended,
      action,
      finishReason: "stop",
      head,
      tokens: counts,
      seconds: 0.125,
      workSeconds: 0.1,
    });
    const call: RecordedCall = {
      tool: "calculator",
      arguments: { expression: `${turn} + ${sample}` },
      observation: String(turn),
      valid: true,
      reward: 0,
      attempts: 1,
      seconds: 0.01,
    };
    if (turn < turns) await store.record(callKey(name, turn, 0), call);
    const { tool, arguments: given, observation, valid, attempts } = call;
    const toolCalls = turn < turns ? [{ tool, arguments: given, observation, valid, attempts }] : [];
    recorded.push({ action: text, toolCalls });
  }
  const task: Task = {
    data_source: "made",
    prompt: [{ role: "user", content: `${taskName}: ${"5 + 3 ".repeat(10)}` }],
    reward_model: { ground_truth: "8" },
  };
  const reward = Math.round(uniform(drawn++));
  const record: Trajectory = {
    id,
    run,
    stage,
    step,
    sample,
    taskId: taskName,
    task,
    head,
    tokens: { prompt: tokens, action: turns * tokens, observation: (turns - 1) * tokens },
    policyVersions: recorded.map(() => policyVersion),
    turns: recorded,
    outcome: "answered",
    answer: recorded.at(-1)?.action ?? "",
    reward,
    success: reward === 1,
    startedAt: "2026-11-22T06:00:00.000Z",
    seconds: turns * 0.2,
  };
  await store.record(trajectoryKey(name), metrics === undefined ? record : { ...record, metrics });
  return { trajectory: id, head: head ?? "", reward, group: taskName };
}
