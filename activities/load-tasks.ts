import type { RunActivities, SelectedTask } from "../src/contracts/activities.ts";
import type { Reservation } from "../src/contracts/ledger.ts";
import type { GroupPlace } from "../src/contracts/rollout.ts";
import { reserve } from "../src/ledger/reservations.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { evaluationTasks, type RunTasks, taskRow } from "../src/runs/run-tasks.ts";

/** The tasks of groups that are about to start, with their trajectories reserved in the ledger. */
export function loadTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["load-tasks"] {
  return async ({ run, groups, evaluation }) => {
    const { plan, folder } = await openRun(run);
    for (const reservation of reservationsOf(groups)) await reserve(folder, reservation);
    const all = await (evaluation === undefined
      ? tasks.training(plan)
      : evaluationTasks(tasks, plan, evaluation));
    return groups.flatMap(({ task: id }): SelectedTask[] => {
      const task = all[taskRow(id)];
      return task === undefined ? [] : [{ id, task }];
    });
  };
}

/** One for a shard, but of an asynchronous run one for each group: which of them a shard has depends on what had room when. */
function reservationsOf(groups: GroupPlace[]): Reservation[] {
  const [first] = groups;
  if (first === undefined) return [];
  if (first.number !== undefined) return groups.map((group) => reservationOf(group, [group]));
  return [reservationOf(first, groups)];
}

function reservationOf({ stage, round = 1 }: GroupPlace, groups: GroupPlace[]): Reservation {
  return {
    ...{ stage, round },
    groups: groups.map(({ task, samples, number }) => ({
      ...{ task, samples },
      ...(number === undefined ? {} : { number }),
    })),
  };
}
