import type { LeftOut, TrainedStep } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lateRow } from "../../run/store/keys.ts";
import { addToRow, readRow } from "../../run/store/row.ts";
import type { Store } from "../../run/store/store.ts";
import { leftBehind } from "./left-behind.ts";

const reason = "it was drawn for the step after the step had been committed";

/**
 * Leaves out by name the trajectories that a synchronous step was given after its commit. The commit does not
 * change, so these have separate records. Throws DISK_FULL and STORE_NOT_WRITABLE.
 */
export async function leaveOutLate(run: OpenRun, step: number, record: TrainedStep): Promise<void> {
  const { trajectories, leftOut } = record;
  const late = await leftBehind(run, [...trajectories, ...leftOut], reason);
  await addToRow(run.store, lateRow(step), (standing) => {
    const known = new Set(standing.flat().map(({ trajectory }) => trajectory));
    const fresh = late.filter(({ trajectory }) => !known.has(trajectory));
    return fresh.length === 0 ? undefined : fresh;
  });
}

/** The trajectories left out that way for a step. */
export async function readLate(store: Pick<Store, "read" | "has">, step: number): Promise<LeftOut[]> {
  return (await readRow(store, lateRow(step))).flat();
}
