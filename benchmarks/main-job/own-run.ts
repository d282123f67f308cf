import { drawTasks } from "../../activities/draw-tasks.ts";
import { readLines } from "../../src/base/files/line-file.ts";
import { defined } from "../../src/base/records/defined.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../../src/control/supervision/training-handle.ts";
import { runTasks, taskRow } from "../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { folderOf } from "../../tests/support/versions.ts";
import { takeOneStep } from "../one-step.ts";

/** Seconds of a step: its record's phases, writing the record, and all else from start to result. */
export interface StepTimes {
  number: number;
  /** The version that it began with. */
  policyVersion: number;
  total: number;
  rollout: number;
  train: number;
  publish: number;
  record: number;
  rest: number;
  actionTokens: number;
  turns: number;
  reward: number;
}

/** A task and its id in its data set. */
export interface SelectedTask {
  id: string;
  task: Task;
}

/** A run of our own, through Temporal: server and workers as `everturn run` has them. */
export interface OwnRun extends OpenRun {
  /** The folder of the version that both sides start from. */
  first: string;
  step(): Promise<StepTimes>;
  /** The tasks of the next `steps` steps, step after step. */
  tasks(steps: number): Promise<SelectedTask[]>;
  close(): Promise<void>;
}

/** Creates a run in `runs` and does its warm start and first step. */
export async function openOwnRun(plan: Plan, runs: string): Promise<OwnRun> {
  const run = await createRunFolder(plan, { runs });
  const supervised = await superviseRun({ runs, run, temporal: undefined });
  const opened = await openRunFolder(runs, run);
  const { folder } = opened;
  const training = finishTraining(supervised, await startTraining(supervised));
  const { policyVersion: reached } = await Promise.race([training, supervised.failed]);
  let [number, policyVersion, turnSeconds] = [1, reached, Number.POSITIVE_INFINITY];

  async function step(): Promise<StepTimes> {
    number += 1;
    const started = performance.now();
    const from = defined<Parameters<typeof takeOneStep>[2]>({
      nextStep: number,
      policyVersion,
      turnSeconds: number > 2 ? turnSeconds : undefined,
    });
    const result = await takeOneStep(supervised, opened, from);
    const total = (performance.now() - started) / 1000;
    const record = (await readLines<StepRecord>(folder.metrics)).at(-1);
    if (record?.step !== number) throw new Error(`step ${number} left no record`);
    const { rollout, train, publish } = record.seconds;
    const times = { rollout, train, publish, record: total - record.seconds.total };
    const before = policyVersion;
    policyVersion = result.policyVersion;
    const { actionLength = 0, turns = 1, rewardMean = 0 } = record;
    turnSeconds = rollout / turns; // no turn takes longer
    return {
      ...times,
      number,
      policyVersion: before,
      total,
      rest: record.seconds.total - rollout - train - publish,
      actionTokens: actionLength,
      turns,
      reward: rewardMean,
    };
  }

  async function tasks(steps: number): Promise<SelectedTask[]> {
    const loaded = runTasks();
    const draw = drawTasks(async () => opened, loaded);
    const all = await loaded.training(plan);
    const selected: SelectedTask[] = [];
    for (let next = 1; next <= steps; next++) {
      for (const id of await draw({ run, step: number + next })) {
        const task = all[taskRow(id)];
        if (task !== undefined) selected.push({ id, task });
      }
    }
    return selected;
  }

  const first = await folderOf(opened, plan.warmStart === undefined ? 0 : 1);
  return { ...opened, first, step, tasks, close: supervised.close };
}
