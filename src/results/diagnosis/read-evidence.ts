import type { StepRecord } from "../../contracts/generated/step-record.ts";
import { ownEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedStepKey } from "../../run/store/keys.ts";
import { type Evidence, evidenceWindow } from "./condition.ts";

/** Reads the evidence for `diagnose` after a step of a run: at most 21 step records, and the run's own evaluations so far. */
export async function readEvidence(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  step: number,
): Promise<Evidence> {
  const numbers = evidenceWindow(
    Array.from({ length: step }, (_, index) => index + 1),
    step,
  );
  const read = await Promise.all(numbers.map((number) => store.read(recordedStepKey(number))));
  const steps = read.filter((record): record is StepRecord => record !== undefined);
  const version = steps.at(-1)?.policyVersion ?? 0;
  return { plan, steps, evaluations: await ownEvaluations({ plan, store }, version) };
}
