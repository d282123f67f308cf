import type { RunActivities } from "../src/contracts/activities.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { trajectoryRecord } from "../src/run/projections/trajectory-record.ts";
import { foundInJournal, readEnded } from "../src/run/trajectory/ended-trajectory.ts";
import { recordedAsLeftOut } from "../src/run/trajectory/recorded-as-left-out.ts";

/**
 * Records a trajectory that a failure of the infrastructure ended, with the reason. No step trains on it.
 * Each admission has its own record, named by the time when it began, so that a retry which succeeds does not
 * have to replace this one.
 */
export function recordLeftOut(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["record-left-out"] {
  return async ({ source, ...named }) => {
    const run = await openRun(named.place.run);
    const input = { ...named, task: await taskAt(run, tasks, source, named.place.task) };
    const ending = { outcome: "left-out", reward: 0, success: false, failure: input.failure } as const;
    const known = "turns" in input ? input : await foundInJournal(run.store, input);
    const record = trajectoryRecord(known, await readEnded(run.store, known), ending);
    await recordedAsLeftOut(run.store, record);
  };
}
