import { ahead } from "../../base/async/ahead.ts";
import { collected } from "../../base/async/collected.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { objectsAtOnce } from "../store/at-once.ts";
import { leftOutKey, type TrajectoryName, trajectoryKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Reads the records of finished trajectories, a few at a time. */
export async function readTrajectories(
  store: Pick<Store, "read">,
  names: readonly TrajectoryName[],
): Promise<Trajectory[]> {
  const records = await collected(ahead(names, objectsAtOnce, (name) => readTrajectoryRecord(store, name)));
  return records.filter((record) => record !== undefined);
}

/**
 * The record of a trajectory: its score, or that its last admission was left out, although it may be in progress
 * again; undefined while its first admission is in progress.
 */
export async function readTrajectoryRecord(
  store: Pick<Store, "read">,
  name: TrajectoryName,
): Promise<Trajectory | undefined> {
  return (await store.read(trajectoryKey(name))) ?? (await leftOutRecords(store, name)).at(-1);
}

/** The records of each time that a trajectory was left out, the first one first. */
export async function leftOutRecords(
  store: Pick<Store, "read">,
  name: TrajectoryName,
): Promise<Trajectory[]> {
  const records: Trajectory[] = [];
  for (;;) {
    const record = await store.read(leftOutKey(name, records.length + 1));
    if (record === undefined) return records;
    records.push(record);
  }
}
