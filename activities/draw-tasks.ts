import type { RunActivities } from "../src/contracts/activities.ts";
import type { Plan } from "../src/contracts/plan.ts";
import type { TaskSet } from "../src/contracts/trajectory.ts";
import { type RunTasks, taskId, tasksIn } from "../src/plan/tasks/run-tasks.ts";
import { stepIndices } from "../src/plan/tasks/step-indices.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";

/**
 * Returns the ids of a step's tasks, of the tasks that replace some of them, or of an evaluation's tasks in
 * file order. `load-task` returns the tasks themselves.
 */
export function drawTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["draw-tasks"] {
  return async ({ run, step, replacement, evaluation }) => {
    const { plan } = await openRun(run);
    if (evaluation !== undefined) {
      const { source, limit } = evaluation;
      const leftOut = new Set(leftOutOf(plan, source));
      const all = await tasksIn(tasks, plan, source);
      const rows = [...all.keys()].filter((row) => !leftOut.has(row));
      return rows.slice(0, limit).map(taskId);
    }
    return stepIndices(plan, await tasks.training(plan), step, replacement).map(taskId);
  };
}

/** The rows of a set that the plan leaves out. A separate file of tasks has none. */
function leftOutOf({ dataset }: Plan, source: TaskSet): readonly number[] {
  if (typeof source === "object") return [];
  return (source === "training" ? dataset.leftOut?.train : dataset.leftOut?.validation) ?? [];
}
