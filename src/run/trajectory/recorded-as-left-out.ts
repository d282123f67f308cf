import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { leftOutKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Records that an admission of a trajectory, known by when it began, was left out; once. */
export async function recordedAsLeftOut(store: Pick<Store, "record">, record: Trajectory): Promise<void> {
  const name = { ...record, task: record.taskId };
  for (let admission = 1; ; admission++) {
    const standing = await store.record(leftOutKey(name, admission), record);
    if (standing.startedAt === record.startedAt) return;
  }
}
