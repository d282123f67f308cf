import type { InstanceHolder } from "../../contracts/instance-holder.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { holdersRow } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import type { Store } from "../../run/store/store.ts";

/** Which instance. */
export interface InstanceName {
  place: TrajectoryPlace;
  tool: string;
}

/**
 * The fencing numbers of a run's instances: each worker that takes one gets the next number, and the one with the highest
 * holds it. Numbers are put if absent and never removed, so that none is given twice.
 */
export function openFences(store: Store) {
  const rowOf = ({ place, tool }: InstanceName) => holdersRow(place, tool);

  return {
    /** The highest number, 0 if there is none, and who has it, as far as that can be read. */
    newest: async (name: InstanceName): Promise<{ fence: number; holder: InstanceHolder | undefined }> => {
      const row = rowOf(name);
      const fence = await lengthOfRow(store, row);
      return { fence, holder: fence === 0 ? undefined : await store.read(row(fence)) };
    },
    /** Takes the number after `fence`, and with it the instance; undefined if another was first. */
    takeAfter: async (
      name: InstanceName,
      fence: number,
      holder: InstanceHolder,
    ): Promise<number | undefined> => {
      const stands = await store.record(rowOf(name)(fence + 1), holder);
      return stands.mark === holder.mark ? fence + 1 : undefined;
    },
    /** Whether nobody has taken it since `fence` was given. */
    isNewest: async (name: InstanceName, fence: number): Promise<boolean> =>
      !(await store.has(rowOf(name)(fence + 1))),
  };
}
