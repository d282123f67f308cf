import type { RunActivities } from "../src/contracts/activities.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";

/** Returns the task that a trajectory's workflow knows by name. Throws TASK_NOT_FOUND. */
export function loadTask(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["load-task"] {
  return async ({ place, source }) => taskAt(await openRun(place.run), tasks, source, place.task);
}
