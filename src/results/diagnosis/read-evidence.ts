import type { StepRecord } from "../../contracts/generated/step-record.ts";
import { ownEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedStepKey } from "../../run/store/keys.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { type Evidence, evidenceWindow } from "./condition.ts";

/**
 * Reads the evidence for `diagnose` after a step of a run: at most 20 earlier step records, and the run's own
 * evaluations so far.
 */
export async function readEvidence(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  record: StepRecord,
): Promise<Evidence> {
  const numbers = evidenceWindow(
    Array.from({ length: record.step }, (_, index) => index + 1),
    record.step,
  );
  const earlier = numbers.filter((number) => number < record.step);
  const read = await Promise.all(earlier.map((number) => store.read(recordedStepKey(number))));
  const steps = [...read.filter((one) => one !== undefined), record];
  return { plan, steps, evaluations: await ownEvaluations({ plan, store }, record.policyVersion) };
}

/** Reads the evidence for `diagnose` before the first step of a run. */
export async function readEarlyEvidence({ plan, store }: Pick<OpenRun, "plan" | "store">): Promise<Evidence> {
  return { plan, steps: [], evaluations: await ownEvaluations({ plan, store }, firstVersion(plan)) };
}
