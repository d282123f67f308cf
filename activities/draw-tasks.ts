import type { RunActivities } from "../src/contracts/activities.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, taskId, tasksIn } from "../src/tasks/run-tasks.ts";
import { stepIndices } from "../src/tasks/step-indices.ts";

/**
 * The ids of a step's tasks, of those that replace some of them, or of an evaluation (in file order). `load-task` gives
 * the tasks themselves.
 */
export function drawTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["draw-tasks"] {
  return async ({ run, step, replacement, evaluation }) => {
    const { plan } = await openRun(run);
    if (evaluation !== undefined) {
      const all = await tasksIn(tasks, plan, evaluation.source);
      return all.slice(0, evaluation.limit).map((_, row) => taskId(row));
    }
    return stepIndices(plan, await tasks.training(plan), step, replacement).map(taskId);
  };
}
