import type { RunActivities } from "../src/contracts/activities.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { evaluationKey } from "../src/store/keys.ts";

/** Records an evaluation's result, once: what an attempt that came first recorded stands. */
export function recordEvaluation(
  openRun: (run: string) => Promise<OpenRun>,
): RunActivities["record-evaluation"] {
  return async ({ run, record }) => {
    const { store } = await openRun(run);
    await store.record(evaluationKey(record.name), record, { flush: true });
  };
}
