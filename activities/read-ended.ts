import type { RunActivities } from "../src/contracts/activities.ts";
import { readSummary } from "../src/rollout/read-summary.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";

/** What came of trajectories that have ended, by their records: a workflow that continued as new carries their names. */
export function readEndedActivity(openRun: (run: string) => Promise<OpenRun>): RunActivities["read-ended"] {
  return async ({ run, trajectories, policyVersion }) => {
    const opened = await openRun(run);
    return Promise.all(trajectories.map((trajectory) => readSummary(opened, trajectory, policyVersion)));
  };
}
