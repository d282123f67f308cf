import type { RunActivities, SelectedTask } from "../src/contracts/activities.ts";
import type { Reservation } from "../src/contracts/ledger.ts";
import type { GroupPlace } from "../src/contracts/rollout.ts";
import { reserve } from "../src/ledger/reservations.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, taskRow } from "../src/runs/run-tasks.ts";

/** The tasks of groups that are about to start, with their trajectories reserved in the ledger. */
export function loadTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["load-tasks"] {
  return async ({ run, groups }) => {
    const { plan, folder } = await openRun(run);
    for (const group of groups) await reserve(folder, reservation(group));
    const all = await tasks.training(plan);
    return groups.flatMap(({ task: id }): SelectedTask[] => {
      const task = all[taskRow(id)];
      return task === undefined ? [] : [{ id, task }];
    });
  };
}

/** One for each group: of an asynchronous run, those that a shard has depend on what had room when. */
function reservation({ stage, round = 1, task, samples, number }: GroupPlace): Reservation {
  return { stage, round, groups: [{ task, samples, ...(number === undefined ? {} : { number }) }] };
}
