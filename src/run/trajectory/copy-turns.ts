import { callKey, type TrajectoryName, turnKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { readCalls } from "./turn-journal.ts";

/**
 * Copies the journal of a trajectory's first `turns` turns to another one, whose activities then return the recorded
 * results instead of repeating the work.
 */
export async function copyTurns(
  store: Pick<Store, "read" | "record">,
  { from, to, turns }: { from: TrajectoryName; to: TrajectoryName; turns: number },
): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) {
    const recorded = await store.read(turnKey(from, turn));
    if (recorded !== undefined) await store.record(turnKey(to, turn), recorded);
    const next = await store.read(turnKey(from, turn + 1));
    for (const { call, recorded: answered } of await readCalls(store, from, turn, next?.callsBefore)) {
      await store.record(callKey(to, turn, call), answered);
    }
  }
}
