import { join } from "node:path";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { TrajectoryRecord } from "../src/contracts/generated/trajectory.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, taskAt } from "../src/tasks/run-tasks.ts";
import { foundInJournal, readEnded } from "../src/trajectory/ended-trajectory.ts";
import { once } from "../src/trajectory/journal.ts";
import { trajectoryRecord } from "../src/trajectory/trajectory-record.ts";

/** Records a trajectory that its infrastructure ended: it trains no step, and says why. */
export function recordLeftOut(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["record-left-out"] {
  return async ({ source, ...named }) => {
    const run = await openRun(named.place.run);
    const input = { ...named, task: await taskAt(run, tasks, source, named.place.task) };
    const file = join(run.folder.trajectory(input.place), "trajectory.json");
    const ending = { outcome: "left-out", reward: 0, success: false, failure: input.failure } as const;
    await once<TrajectoryRecord>(file, async () => {
      const known = "turns" in input ? input : await foundInJournal(run, input);
      return trajectoryRecord(known, await readEnded(run, known), ending);
    });
  };
}
