import type { RunActivities } from "../src/contracts/activities.ts";
import { writeWhole } from "../src/runs/files.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";

/** Writes an evaluation's result into the run folder. */
export function recordEvaluation(
  openRun: (run: string) => Promise<OpenRun>,
): RunActivities["record-evaluation"] {
  return async ({ run, record }) => {
    const { folder } = await openRun(run);
    await writeWhole(folder.evaluation(record.name), `${JSON.stringify(record, null, 2)}\n`);
  };
}
