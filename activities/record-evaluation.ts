import type { RunActivities } from "../src/contracts/activities.ts";
import { numbersOf } from "../src/results/evaluations/numbers.ts";
import { readOutcomes } from "../src/results/evaluations/outcomes.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { evaluationKey } from "../src/run/store/keys.ts";

/**
 * Records an evaluation's result, once: what an attempt that came first recorded stands. One by `everturn evaluate` has its numbers
 * by source and tag, which its trajectories say.
 */
export function recordEvaluation(
  openRun: (run: string) => Promise<OpenRun>,
): RunActivities["record-evaluation"] {
  return async ({ run, record }) => {
    const opened = await openRun(run);
    const numbers = record.samples === undefined ? undefined : numbersOf(await readOutcomes(opened, record));
    const whole = numbers === undefined ? record : { ...record, numbers };
    await opened.store.record(evaluationKey(record.name), whole, { flush: true });
  };
}
