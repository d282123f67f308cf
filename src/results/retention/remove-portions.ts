import { ahead } from "../../base/async/ahead.ts";
import { collected } from "../../base/async/collected.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import { portionsPrefix } from "../../run/store/keys.ts";
import { listed } from "../../run/store/listed.ts";
import { treeFileOf } from "../../run/store/tree-paths.ts";

/** Removes the portions of committed steps, which trainers no longer need. */
export async function removePortions(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  steps: readonly number[],
): Promise<void> {
  if (plan.trainer.portions === undefined) return;
  for (const step of steps) {
    const paths = await collected(listed(store, portionsPrefix(step)));
    const files = paths.filter((path) => treeFileOf(path) !== undefined);
    const records = paths.filter((path) => treeFileOf(path) === undefined);
    // A record without its files would be a broken one.
    for (const some of [records, files])
      await collected(ahead(some, objectsAtOnce, (path) => store.remove({ path })));
  }
}
