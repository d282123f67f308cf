import type { InstanceHolder } from "../../contracts/instance-holder.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { holdersRow } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import type { Store } from "../../run/store/store.ts";

/** The name of an instance. */
export interface InstanceName {
  place: TrajectoryPlace;
  tool: string;
}

/**
 * The fencing numbers of a run's instances. Each worker that takes an instance gets the next number, and the
 * worker with the highest number holds it. Numbers are written only if absent and never removed, so that none
 * is used twice.
 */
export function openFences(store: Store) {
  const rowOf = ({ place, tool }: InstanceName) => holdersRow(place, tool);

  return {
    /** Returns the highest number, 0 if there is none, and its holder, if readable. */
    newest: async (name: InstanceName): Promise<{ fence: number; holder: InstanceHolder | undefined }> => {
      const row = rowOf(name);
      const fence = await lengthOfRow(store, row);
      return { fence, holder: fence === 0 ? undefined : await store.read(row(fence)) };
    },
    /** Takes the number after `fence`, and with it the instance. Undefined if another worker was first. */
    takeAfter: async (
      name: InstanceName,
      fence: number,
      holder: InstanceHolder,
    ): Promise<number | undefined> => {
      const stands = await store.record(rowOf(name)(fence + 1), holder);
      return stands.mark === holder.mark ? fence + 1 : undefined;
    },
    /** Whether no worker has taken the instance since `fence`. */
    isNewest: async (name: InstanceName, fence: number): Promise<boolean> =>
      !(await store.has(rowOf(name)(fence + 1))),
  };
}
