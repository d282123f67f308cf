import type { RunActivities } from "../src/contracts/activities.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, taskAt } from "../src/tasks/run-tasks.ts";

/** The task that a trajectory's workflow was given the name of. Throws TASK_NOT_FOUND. */
export function loadTask(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["load-task"] {
  return async ({ place, source }) => taskAt(await openRun(place.run), tasks, source, place.task);
}
