import type { TrainedStep } from "../contracts/ledger.ts";
import { trainedStepKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { treeRecordKey } from "../store/tree-paths.ts";
import { readLate } from "./late-trajectories.ts";

/**
 * What a step was committed with, whether its version's files are whole or not; undefined if it was not committed, or its
 * record can't be read.
 */
export async function readTrainedStep(
  { store }: { store: Pick<Store, "treeRecord"> },
  step: number,
): Promise<TrainedStep | undefined> {
  return (await store.treeRecord(trainedStepKey(step)))?.value;
}

/**
 * The steps that were trained, by number, with what was left out of them later. Whether the files of their versions are
 * whole does not matter; one whose record can't be read is left out.
 */
export async function readTrainedSteps({
  store,
}: {
  store: Pick<Store, "read" | "has" | "treeRecord">;
}): Promise<Map<number, TrainedStep>> {
  const steps = new Map<number, TrainedStep>();
  for (let step = 1; ; step++) {
    const key = trainedStepKey(step);
    const record = (await store.treeRecord(key))?.value;
    if (record !== undefined) {
      const { leftOut = [] } = record;
      const late = await readLate(store, step);
      steps.set(step, late.length === 0 ? record : { ...record, leftOut: [...leftOut, ...late] });
    } else if (!(await store.has(treeRecordKey(key)))) return steps;
  }
}
