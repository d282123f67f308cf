import type { OpenRun } from "../runs/open-runs.ts";
import { foldedKey } from "../store/keys.ts";
import { removeRecords } from "../trajectory/folded/remove-records.ts";

/** Removes the single records of a step that is in its file; how many. None of another step. */
export async function freeRecords({ store }: Pick<OpenRun, "store">, step: number): Promise<number> {
  if (step < 1) return 0;
  const tree = await store.readTree(foldedKey(step));
  let removed = 0;
  for (const name of tree?.value.trajectories ?? []) removed += await removeRecords(store, name);
  return removed;
}
