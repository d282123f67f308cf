import { type TrajectoryName, trajectoryPrefix } from "../../store/keys.ts";
import { listed } from "../../store/listed.ts";
import type { Store } from "../../store/store.ts";
import { foldedPrefix } from "./folded-path.ts";

/** Removes the single records of a trajectory that is in a step's file; how many. What is killed can be repeated. */
export async function removeRecords(
  store: Pick<Store, "list" | "remove">,
  name: TrajectoryName,
): Promise<number> {
  let removed = 0;
  for await (const path of listed(store, trajectoryPrefix(name))) {
    if (foldedPrefix(path) === undefined) continue;
    await store.remove({ path });
    removed++;
  }
  return removed;
}
