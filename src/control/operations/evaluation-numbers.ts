import type { EvaluationNumbers } from "../../contracts/measured.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { numbersOf } from "../../results/evaluations/numbers.ts";
import { readOutcomes, type TaskOutcomes } from "../../results/evaluations/outcomes.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";

/** The measures of an evaluation by source and tag, and the outcomes of each task. */
export async function evaluationNumbers(
  run: OpenRun,
  record: EvaluationRecord,
): Promise<{ numbers: EvaluationNumbers; outcomes: TaskOutcomes[] }> {
  const { tasks: outcomes } = await readOutcomes(run, record);
  return { numbers: record.numbers ?? numbersOf(outcomes), outcomes };
}
