import type { RunActivities } from "../src/contracts/activities.ts";
import { readSummary } from "../src/results/recovery/read-summary.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { runJournal } from "../src/run/trajectory/run-journal.ts";

/**
 * Returns the results of ended trajectories from their records. A workflow that continued as new carries only
 * their names. When steps with broken versions are trained again, these records may be in a step's file.
 */
export function readEndedActivity(openRun: (run: string) => Promise<OpenRun>): RunActivities["read-ended"] {
  return async ({ run, trajectories, policyVersion }) => {
    const opened = await openRun(run);
    const from = { plan: opened.plan, store: runJournal(opened) };
    return Promise.all(trajectories.map((trajectory) => readSummary(from, trajectory, policyVersion)));
  };
}
