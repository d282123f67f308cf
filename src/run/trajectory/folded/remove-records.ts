import { setImmediate as nextTurn } from "node:timers/promises";
import { ahead } from "../../../base/async/ahead.ts";
import { collected } from "../../../base/async/collected.ts";
import { objectsAtOnce } from "../../store/at-once.ts";
import { type TrajectoryName, trajectoryPrefix } from "../../store/keys.ts";
import { listed } from "../../store/listed.ts";
import type { Store } from "../../store/store.ts";
import { foldedPrefix } from "./folded-path.ts";

/**
 * Removes single records of trajectories that are in a step's file, some of them concurrently, and returns their
 * number. It can be repeated after a kill: readers prefer the file, however many single records are left.
 */
export async function removeRecords(
  store: Pick<Store, "list" | "remove">,
  names: Iterable<TrajectoryName>,
): Promise<number> {
  let removed = 0;
  const removals = ahead(recordsOf(store, names), objectsAtOnce, (path) => store.remove({ path }));
  for await (const _ of removals) removed++;
  return removed;
}

async function* recordsOf(
  store: Pick<Store, "list">,
  names: Iterable<TrajectoryName>,
): AsyncGenerator<string> {
  const listings = ahead(names, objectsAtOnce, (name) => collected(listed(store, trajectoryPrefix(name))));
  for await (const paths of listings) {
    yield* paths.filter((path) => foldedPrefix(path) !== undefined);
    await nextTurn(); // lets other work in this process run
  }
}
