import type { OpenRun } from "../../run/folder/open-runs.ts";
import { foldedKey, freedRecordsKey } from "../../run/store/keys.ts";
import { removeRecords } from "../../run/trajectory/folded/remove-records.ts";

/**
 * Removes the single records of a folded step and of those before it, back to one whose records were removed
 * already, so that it also removes what a killed worker left. A record of its own marks each step as done.
 */
export async function freeRecords({ store }: Pick<OpenRun, "store">, last: number): Promise<void> {
  const steps: number[] = [];
  for (let step = last; step > 0 && !(await store.has(freedRecordsKey(step))); step--) steps.unshift(step);
  for (const step of steps) {
    const tree = await store.readTree(foldedKey(step));
    if (tree === undefined) continue; // it can't be folded, or its file broke: `everturn prune` checks all
    const records = await removeRecords(store, tree.value.trajectories);
    await store.record(freedRecordsKey(step), { records });
  }
}
