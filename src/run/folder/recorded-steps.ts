import type { StepRecord } from "../../contracts/generated/step-record.ts";
import { recordedStepKey } from "../store/keys.ts";
import { lengthOfRow, readRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";

/** The recorded steps after the first `after`, in order. A step is recorded only after all earlier ones. */
export function recordedSteps(store: Pick<Store, "read" | "has">, after = 0): Promise<StepRecord[]> {
  return readRow(store, recordedStepKey, after);
}

/**
 * The last recorded step up to step `last`; undefined before the first. It costs the same at step 1,000 as at step
 * 10.
 */
export async function lastRecordedStep(
  store: Pick<Store, "read" | "has">,
  last?: number,
): Promise<StepRecord | undefined> {
  for (let step = last ?? (await lengthOfRow(store, recordedStepKey)); step > 0; step--) {
    const record = await store.read(recordedStepKey(step));
    if (record !== undefined) return record; // if it is unreadable, the one before is better than none
  }
  return undefined;
}
