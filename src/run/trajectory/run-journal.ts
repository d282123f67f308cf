import { stepOf } from "../../contracts/stages.ts";
import type { OpenRun } from "../folder/open-runs.ts";
import type { Key } from "../store/key.ts";
import { foldedKey, recordedStepKey, trajectoryPrefix } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { foldedPrefix } from "./folded/folded-path.ts";
import { trajectoryReader } from "./reader.ts";
import { recentlyUsed } from "./recently-used.ts";

/** The record of finished work, which is consulted before work is done. */
export type Journal = Pick<Store, "read" | "record">;

/** Number of steps whose trajectories are cached. */
const keptSteps = 8;

/**
 * A run's journal for an attempt that may be steps late: a record that has moved to its step's file still counts as
 * present. Each absent record costs a check of whether a step that may have had the trajectory is recorded.
 */
export function runJournal(run: Pick<OpenRun, "folder" | "plan" | "store">): Journal {
  const { plan, store } = run;
  const folded = recentlyUsed<number, ReadonlySet<string>>(keptSteps);

  const foldedIn = (step: number) =>
    folded.get(step, async () => {
      const tree = await store.readTree(foldedKey(step));
      return tree && new Set(tree.value.trajectories.map((name) => trajectoryPrefix(name).prefix));
    });

  /** Whether the file of a step that may have used the trajectory contains it. */
  async function isFolded(prefix: string): Promise<boolean> {
    const made = stepOf(prefix.split("/")[1] ?? "");
    if (made === undefined) return false;
    const first = Math.max(1, made - plan.rollout.staleness); // a group may overtake older ones
    for (let step = first; await store.has(recordedStepKey(step)); step++) {
      if ((await foldedIn(step))?.has(prefix)) return true;
    }
    return false;
  }

  return {
    record: store.record,
    read: async <Value>(key: Key<Value>) => {
      const single = await store.read(key);
      const prefix = single === undefined ? foldedPrefix(key.path) : undefined;
      if (prefix === undefined || !(await isFolded(prefix))) return single;
      return trajectoryReader(run).read(key);
    },
  };
}
