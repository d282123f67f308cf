import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { GivenTask } from "../../contracts/activities.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Plan, ResolvedPlugin } from "../../contracts/plan.ts";
import type { TaskSet, TaskSource } from "../../contracts/trajectory.ts";
import { loadDataset } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { readTaskFile } from "./task-file.ts";

/** The tasks of a plan's data sets, each loaded once. */
export interface RunTasks {
  training(plan: Plan): Promise<Task[]>;
  validation(plan: Plan): Promise<Task[]>;
}

/** Returns a cache with no tasks loaded yet. */
export function runTasks(): RunTasks {
  const loaded = sharedPromises<Task[]>();
  function load(use: ResolvedPlugin): Promise<Task[]> {
    const key = JSON.stringify([use.entry, use.config]);
    return loaded.get(key, async () => (await loadDataset(use)).load(use.config));
  }
  return {
    training: async ({ dataset }) => (dataset.train === undefined ? [] : load(dataset.train)),
    validation: ({ dataset }) => load(dataset.validation),
  };
}

/** Returns the tasks of a set. Throws the errors of reading it. */
export function tasksIn(tasks: RunTasks, plan: Plan, source: TaskSet): Promise<Task[]> {
  if (typeof source === "object") return readTaskFile(source.file);
  return source === "training" ? tasks.training(plan) : tasks.validation(plan);
}

/** Returns the task in or named by an activity's input. Throws TASK_NOT_FOUND. */
export async function givenTask(run: OpenRun, tasks: RunTasks, given: GivenTask, id: string): Promise<Task> {
  return "task" in given ? given.task : taskAt(run, tasks, given.source, id);
}

/** Returns the task with an id from `source`. Throws TASK_NOT_FOUND. */
export async function taskAt(
  { plan, store }: OpenRun,
  tasks: RunTasks,
  source: TaskSource,
  id: string,
): Promise<Task> {
  if (typeof source === "object" && "trajectory" in source) {
    const record = await readTrajectoryRecord(trajectoryReader({ store }), trajectoryOf(source.trajectory));
    if (record === undefined)
      throw new EverturnError("TASK_NOT_FOUND", { task: id, place: source.trajectory });
    return record.task;
  }
  const task = (await tasksIn(tasks, plan, source))[taskRow(id)];
  const place = typeof source === "object" ? source.file : `the ${source} set`;
  if (task === undefined) throw new EverturnError("TASK_NOT_FOUND", { task: id, place });
  return task;
}

/** The id of the task in a data set's row (from 0): `task-00012`. */
export function taskId(row: number): string {
  return `task-${String(row).padStart(5, "0")}`;
}

/** The row (from 0) of a task's id. */
export function taskRow(id: string): number {
  return Number(id.slice("task-".length));
}
