import type { RunActivities } from "../src/contracts/activities.ts";
import { numbersOf } from "../src/results/evaluations/numbers.ts";
import { readOutcomes } from "../src/results/evaluations/outcomes.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { evaluationKey } from "../src/run/store/keys.ts";

/**
 * Records an evaluation's result. The record of an earlier attempt is kept. An evaluation by `everturn
 * evaluate` gets its numbers by source and tag from its trajectories.
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
