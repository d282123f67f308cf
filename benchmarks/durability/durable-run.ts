import { join } from "node:path";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import type { EvaluationInput, EvaluationRecord } from "../../src/contracts/run.ts";
import type { TrajectoryInput, TrajectoryPlace, TrajectoryResult } from "../../src/contracts/trajectory.ts";
import { keyOfNewRun } from "../../src/control/encryption/run-encryption.ts";
import { type SupervisedRun, superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { runSettings } from "../../src/plan/pipeline/resolve/run-settings.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { folderOf, initializeVersion } from "../../tests/support/versions.ts";
import { trajectoryInput } from "../../workflows/trajectory-input.ts";
import { takeSteps } from "../take-steps.ts";
import { conversation, scriptedPlan } from "./scripted-plan.ts";
import { type TurnSpread, turnSpread } from "./turn-spread.ts";

/** What a run of scripted trajectories is made of. */
export interface ScriptedRun {
  /** The turns of each conversation; a trajectory's sample number picks one. */
  turns: number[];
  /** Of each generation. */
  seconds: number;
  /** Trajectories of a step, all of them at once. */
  batchSize: number;
  /** What the policy says before each call of a tool; default nothing. */
  thought?: string;
  /** host:port of a Temporal server. Default: the run starts a dev server. */
  address?: string;
}

/** A run with its own server and workers, as `everturn run` has them. */
export interface DurableRun {
  plan: Plan;
  /** The policy that both sides open. */
  policy: string;
  /** Evaluates `count` tasks at once, of the first conversation; seconds from start to result. */
  evaluate(count: number): Promise<number>;
  /** How late each turn of the newest evaluation was. */
  lateTurns(): Promise<TurnSpread[]>;
  /** A step of the whole batch; seconds of its rollout. */
  step(): Promise<number>;
  /** One trajectory of a conversation; seconds from start to result. */
  trajectory(conversation: number): Promise<number>;
  /** The number of events in the histories of all its workflows. */
  events(): Promise<number>;
  /** The places of the trajectories so far that were no part of a step or an evaluation. */
  places: TrajectoryPlace[];
  supervised: SupervisedRun;
  close(): Promise<void>;
}

/** Turns that take less, in seconds, are made where the workflow runs: as workflows/training.ts has it. */
const quickTurn = 2;

/** Creates a run in `folder` and brings up what works on it. */
export async function openDurableRun(
  folder: string,
  { turns, seconds, batchSize, thought = "", address }: ScriptedRun,
): Promise<DurableRun> {
  const conversations = turns.map((count) => conversation(count, thought));
  const plan = await scriptedPlan(folder, { conversations, seconds, batchSize });
  const run = await createRunFolder(plan, {
    runs: folder,
    server: address === undefined ? undefined : { address, namespace: "default" },
    workers: "shared",
    encryption: keyOfNewRun(),
  });
  const opened = await openRunFolder(folder, run);
  const paths = opened.folder;
  await initializeVersion(opened, 0);
  const supervised = await superviseRun({ runs: folder, run, temporal: undefined });
  const { client, queues } = supervised;
  const settings = runSettings(plan);
  const common = { run, settings, queues, quickTurns: seconds < quickTurn };
  const places: TrajectoryPlace[] = [];
  let number = 0;

  async function timed<Input, Result>(type: string, place: string, input: Input): Promise<[number, Result]> {
    const options = { workflowId: `${run}/${place}`, taskQueue: queues.orchestration, args: [input] };
    const started = performance.now();
    const working: Promise<Result> = client.workflow.execute(type, options);
    const result = await Promise.race([working, supervised.failed]);
    return [(performance.now() - started) / 1000, result];
  }

  async function evaluate(count: number): Promise<number> {
    const name = `evaluation-${++number}`;
    const input = { ...common, plan: { name, step: 0, policyVersion: 0, tasks: count } };
    const [took, record] = await timed<EvaluationInput, EvaluationRecord>("evaluation", name, input);
    if (record.accuracy !== 1) throw new Error(`${count * (1 - record.accuracy)} trajectories went wrong`);
    return took;
  }

  async function step(): Promise<number> {
    const turnSeconds = seconds;
    await takeSteps(supervised, opened, { nextStep: ++number, policyVersion: 0, turnSeconds });
    const record = (await readLines<StepRecord>(paths.metrics)).at(-1);
    if (record?.trajectories !== batchSize) throw new Error(`step ${number} trained on less than its batch`);
    return record.seconds.rollout;
  }

  async function trajectory(sample: number): Promise<number> {
    const stage = `alone-${++number}`;
    const input = trajectoryInput(
      { stage, step: 0, task: "task-00000", sample },
      { ...common, policyVersion: 0, source: "training" },
    );
    places.push(input.place);
    const place = `${stage}/task-00000/${sample}`;
    const [took, result] = await timed<TrajectoryInput, TrajectoryResult>("trajectory", place, input);
    if (result.outcome !== "answered")
      throw new Error(`a trajectory ended as ${result.outcome}: ${result.failure}`);
    return took;
  }

  async function events(): Promise<number> {
    let count = 0;
    const query = `WorkflowId STARTS_WITH "${run}/"`;
    for await (const { historyLength } of client.workflow.list({ query })) count += historyLength;
    return count;
  }

  return {
    plan,
    policy: await folderOf(opened, 0),
    evaluate,
    lateTurns: () => turnSpread(join(folder, run), `evaluation-${number}`, seconds),
    step,
    trajectory,
    events,
    places,
    supervised,
    close: supervised.close,
  };
}
