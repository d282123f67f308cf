import type { RunActivities } from "../src/contracts/activities.ts";
import { readSummary } from "../src/results/recovery/read-summary.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { runJournal } from "../src/run/trajectory/run-journal.ts";

/**
 * What came of trajectories that have ended, by their records: a workflow that continued as new carries their names. Where steps
 * whose versions broke are trained again, their records may be in files.
 */
export function readEndedActivity(openRun: (run: string) => Promise<OpenRun>): RunActivities["read-ended"] {
  return async ({ run, trajectories, policyVersion }) => {
    const opened = await openRun(run);
    const from = { plan: opened.plan, store: runJournal(opened) };
    return Promise.all(trajectories.map((trajectory) => readSummary(from, trajectory, policyVersion)));
  };
}
