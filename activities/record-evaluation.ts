import type { RunActivities } from "../src/contracts/activities.ts";
import { patiently } from "../src/files/patiently.ts";
import { writeOnce } from "../src/files/whole-files.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";

/** Writes an evaluation's result into the run folder, once: what an attempt that came first wrote stands. */
export function recordEvaluation(
  openRun: (run: string) => Promise<OpenRun>,
): RunActivities["record-evaluation"] {
  return async ({ run, record }) => {
    const { folder } = await openRun(run);
    const content = `${JSON.stringify(record, null, 2)}\n`;
    await patiently(() => writeOnce(folder.evaluation(record.name), content, { flush: true }));
  };
}
