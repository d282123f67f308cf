import { defined } from "../src/base/records/defined.ts";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { EvaluationRecord } from "../src/contracts/run.ts";
import { differencesOfTools } from "../src/results/diagnosis/tool-differences.ts";
import { numbersOf } from "../src/results/evaluations/numbers.ts";
import { readOutcomes } from "../src/results/evaluations/outcomes.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { readStops } from "../src/run/folder/sessions.ts";
import { actionNumbers } from "../src/run/projections/action-numbers.ts";
import { evaluationKey } from "../src/run/store/keys.ts";

/**
 * Records an evaluation's result once, with the numbers that only its trajectories show: those of its actions and calls,
 * and, for `everturn evaluate`, those by source and tag. A second attempt changes nothing.
 */
export function recordEvaluation(
  openRun: (run: string) => Promise<OpenRun>,
): RunActivities["record-evaluation"] {
  return async ({ run, record, started }) => {
    const opened = await openRun(run);
    const ended = (started ?? 0) + record.seconds * 1000;
    const stopped = started === undefined ? 0 : (await readStops(opened.folder))(started, ended);
    const seconds = Math.max(0, record.seconds - stopped / 1000);
    const { tasks, actions, places } = await readOutcomes(opened, record);
    const numbers = record.samples === undefined ? undefined : numbersOf(tasks);
    const whole = defined<EvaluationRecord>({
      ...record,
      seconds,
      ...actionNumbers(actions),
      toolDifferences: await differencesOfTools(opened, places),
      numbers,
    });
    await opened.store.record(evaluationKey(record.name), whole, { flush: true });
    return seconds;
  };
}
