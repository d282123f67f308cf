import type { EvaluationNumbers } from "../contracts/measured.ts";
import type { EvaluationRecord } from "../contracts/run.ts";
import { numbersOf } from "../evaluations/numbers.ts";
import { readOutcomes, type TaskOutcomes } from "../evaluations/outcomes.ts";
import type { OpenRun } from "../runs/open-runs.ts";

/** What an evaluation measured, by source and tag, and what became of each task. */
export async function evaluationNumbers(
  run: OpenRun,
  record: EvaluationRecord,
): Promise<{ numbers: EvaluationNumbers; outcomes: TaskOutcomes[] }> {
  const outcomes = await readOutcomes(run, record);
  return { numbers: record.numbers ?? numbersOf(outcomes), outcomes };
}
