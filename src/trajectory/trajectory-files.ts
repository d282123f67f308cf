import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import { isSystemError } from "../errors/system-error.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { nameOf } from "../store/key.ts";
import { leftOutKey, type TrajectoryName, trajectoryKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Finds the trajectories of a run, under way or finished, of one stage or task if named; in order. */
export async function listTrajectories(
  { root }: Pick<RunFolder, "root">,
  only: { stage?: string | undefined; task?: string | undefined } = {},
): Promise<TrajectoryName[]> {
  const folder = join(root, "trajectories");
  const stages = await namesIn(folder, only.stage);
  const found = stages.map(async (stage) => {
    const tasks = await namesIn(stage.path, only.task);
    const names = tasks.map(async (task) => {
      const samples = await namesIn(task.path);
      const numbers = samples.map(({ name }) => Number(name)).filter(Number.isInteger);
      return numbers.sort((a, b) => a - b).map((sample) => ({ stage: stage.name, task: task.name, sample }));
    });
    return (await Promise.all(names)).flat();
  });
  return (await Promise.all(found)).flat();
}

/** Reads the records of the trajectories that have finished, a few at a time. */
export async function readTrajectories(
  store: Pick<Store, "read">,
  names: readonly TrajectoryName[],
): Promise<TrajectoryRecord[]> {
  const records: (TrajectoryRecord | undefined)[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    for (let index = next++; index < names.length; index = next++) {
      const name = names[index];
      if (name !== undefined) records[index] = await readTrajectoryRecord(store, name);
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane));
  return records.filter((record) => record !== undefined);
}

/**
 * The record of a trajectory: how it was scored, or that its last admission was left out, though it may be under way
 * again; undefined while its first one is.
 */
export async function readTrajectoryRecord(
  store: Pick<Store, "read">,
  name: TrajectoryName,
): Promise<TrajectoryRecord | undefined> {
  return (await store.read(trajectoryKey(name))) ?? (await leftOutRecords(store, name)).at(-1);
}

/** What was recorded of a trajectory each time that it was left out, the first one first. */
export async function leftOutRecords(
  store: Pick<Store, "read">,
  name: TrajectoryName,
): Promise<TrajectoryRecord[]> {
  const records: TrajectoryRecord[] = [];
  for (;;) {
    const record = await store.read(leftOutKey(name, records.length + 1));
    if (record === undefined) return records;
    records.push(record);
  }
}

/** The names in a folder in order, or the one asked for, and their paths; none if there is no such folder. */
async function namesIn(folder: string, only?: string): Promise<{ name: string; path: string }[]> {
  let parts: string[];
  try {
    parts = await readdir(folder);
  } catch (error) {
    if (isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR")) return [];
    throw error;
  }
  return parts.sort().flatMap((part) => {
    const name = nameOf(part);
    const isAsked = name !== undefined && (only === undefined || name === only);
    return isAsked ? [{ name, path: join(folder, part) }] : [];
  });
}
