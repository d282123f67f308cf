import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { firstAndLastEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lastRecordedStep, recordedSteps } from "../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../run/versions/first-version.ts";

/** The results that a run had when a process began to work on it. */
export interface Past {
  /** Its last steps, in order. */
  readonly steps: readonly StepRecord[];
  /** The evaluations before its first step, and its last one. */
  readonly evaluations: readonly EvaluationRecord[];
}

/** The number of steps that curves and estimates need. */
const stepsKept = 24;

/** Reads the results of a run that nothing works on yet. */
export async function readPast({ store, plan }: Pick<OpenRun, "store" | "plan">): Promise<Past> {
  const last = await lastRecordedStep(store);
  const newest = last?.policyVersion ?? firstVersion(plan);
  return {
    steps: last === undefined ? [] : await recordedSteps(store, Math.max(0, last.step - stepsKept)),
    evaluations: await firstAndLastEvaluations({ store, plan }, newest),
  };
}
