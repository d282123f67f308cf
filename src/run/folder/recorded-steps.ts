import type { StepRecord } from "../../contracts/generated/step-record.ts";
import { recordedStepKey } from "../store/keys.ts";
import { lengthOfRow, readRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";

/** The steps that were recorded after the first `after`, in order: one is recorded when those before it are. */
export function recordedSteps(store: Pick<Store, "read" | "has">, after = 0): Promise<StepRecord[]> {
  return readRow(store, recordedStepKey, after);
}

/** The step that was recorded last, up to step `last`; undefined before the first. It costs no more at step 1,000 than at step 10. */
export async function lastRecordedStep(
  store: Pick<Store, "read" | "has">,
  last?: number,
): Promise<StepRecord | undefined> {
  for (let step = last ?? (await lengthOfRow(store, recordedStepKey)); step > 0; step--) {
    const record = await store.read(recordedStepKey(step));
    if (record !== undefined) return record; // else it can't be read, and the one before says more than none
  }
  return undefined;
}
