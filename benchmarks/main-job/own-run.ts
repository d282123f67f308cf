import { drawTasks } from "../../activities/draw-tasks.ts";
import { readLines } from "../../src/base/files/line-file.ts";
import { defined } from "../../src/base/records/defined.ts";
import { mean } from "../../src/base/statistics/mean.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../../src/control/supervision/training-handle.ts";
import { runTasks, taskRow } from "../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { folderOf } from "../../tests/support/versions.ts";
import { takeSteps } from "../take-steps.ts";

/** Seconds of a step, a mean over steps in a row: the phases of its record, and all else from start to result. */
export interface StepTimes {
  total: number;
  rollout: number;
  train: number;
  publish: number;
  rest: number;
  actionTokens: number;
  turns: number;
  reward: number;
}

/** Steps in a row. */
export interface StepsTaken {
  /** The last one, and the version that it began with. */
  last: number;
  policyVersion: number;
  mean: StepTimes;
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
  /** Takes the next `count` steps in one training workflow, as `everturn run` does. */
  take(count: number): Promise<StepsTaken>;
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
  let [number, policyVersion] = [1, reached];
  let turnSeconds: number | undefined;

  async function take(count: number): Promise<StepsTaken> {
    const nextStep = number + 1;
    const started = performance.now();
    const from = defined<Parameters<typeof takeSteps>[2]>({
      nextStep,
      policyVersion,
      turnSeconds,
    });
    const result = await takeSteps(supervised, opened, from, count);
    const total = (performance.now() - started) / 1000 / count;
    number += count;
    policyVersion = result.policyVersion;
    const records = (await readLines<StepRecord>(folder.metrics)).slice(-count);
    if (records[0]?.step !== nextStep) throw new Error(`step ${nextStep} left no record`);
    const meanOf = (pick: (record: StepRecord) => number | undefined) =>
      mean(records.map((record) => pick(record) ?? 0));
    const rollout = meanOf(({ seconds }) => seconds.rollout);
    const train = meanOf(({ seconds }) => seconds.train);
    const publish = meanOf(({ seconds }) => seconds.publish);
    const turns = meanOf((record) => record.turns);
    turnSeconds = rollout / turns; // about the longest that a turn takes
    return {
      last: number,
      policyVersion: policyVersion - 1,
      mean: {
        total,
        rollout,
        train,
        publish,
        rest: total - rollout - train - publish,
        actionTokens: meanOf((record) => record.actionLength),
        turns,
        reward: meanOf((record) => record.rewardMean),
      },
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
  return { ...opened, first, take, tasks, close: supervised.close };
}
