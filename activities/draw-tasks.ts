import type { RunActivities } from "../src/contracts/activities.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, stepIndices, taskId } from "../src/runs/run-tasks.ts";

/** The ids of a step's tasks, or of those that replace some of them. `load-tasks` gives the tasks themselves. */
export function drawTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["draw-tasks"] {
  return async ({ run, step, replacement }) => {
    const { plan } = await openRun(run);
    const { length } = await tasks.training(plan);
    return stepIndices(plan, length, step, replacement).map(taskId);
  };
}
