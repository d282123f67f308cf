import type { RunActivities } from "../src/contracts/activities.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { foundInJournal, readEnded } from "../src/run/trajectory/ended-trajectory.ts";
import { recordedAsLeftOut } from "../src/run/trajectory/recorded-as-left-out.ts";
import { trajectoryRecord } from "../src/run/trajectory/trajectory-record.ts";

/**
 * Records a trajectory that its infrastructure ended: it trains no step, and says why. Each admission has a record of
 * its own, known by when it began: should the trajectory be tried again and get through, nothing has to give way.
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
