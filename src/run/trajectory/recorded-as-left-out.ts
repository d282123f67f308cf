import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { leftOutKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Records once that an admission of a trajectory was left out. The time when it began identifies the admission. */
export async function recordedAsLeftOut(store: Pick<Store, "record">, record: Trajectory): Promise<void> {
  const name = { ...record, task: record.taskId };
  for (let admission = 1; ; admission++) {
    const standing = await store.record(leftOutKey(name, admission), record);
    if (standing.startedAt === record.startedAt) return;
  }
}
