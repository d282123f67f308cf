import { defined } from "../src/base/records/defined.ts";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { Reservation } from "../src/contracts/ledger.ts";
import type { GroupPlace } from "../src/contracts/rollout.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import { reserve } from "../src/results/ledger/reservations.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";

/** Characters of the line that describes a task to people. */
const lineLength = 200;

/**
 * Reserves the trajectories of groups that are about to start in the ledger. Returns a line about each task.
 */
export function reserveGroups(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["reserve-groups"] {
  return async ({ run, groups, source }) => {
    const opened = await openRun(run);
    for (const reservation of reservationsOf(groups)) await reserve(opened.store, reservation);
    return Promise.all(
      groups.map(async ({ task }) => {
        const { prompt } = await taskAt(opened, tasks, source, task);
        return (prompt.at(-1)?.content ?? task).slice(0, lineLength);
      }),
    );
  };
}

/** One reservation for each step and round that the shard has groups of. */
function reservationsOf(groups: GroupPlace[]): Reservation[] {
  const reservations = new Map<string, Reservation>();
  for (const { stage, round = 1, task, samples, number } of groups) {
    const key = `${stage}/${round}`;
    const reservation = reservations.get(key) ?? { stage, round, groups: [] };
    reservation.groups.push(defined({ task, samples, number }));
    reservations.set(key, reservation);
  }
  return [...reservations.values()];
}
