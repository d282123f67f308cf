import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import { isSystemError } from "../errors/system-error.ts";
import { readRecord } from "../files/whole-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";

/** A trajectory's place in its run's folder. */
export interface TrajectoryFile {
  stage: string;
  task: string;
  sample: number;
}

/** Finds the trajectories of a run, under way or finished, of one stage or task if named; in order. */
export async function listTrajectories(
  { root }: RunFolder,
  only: { stage?: string | undefined; task?: string | undefined } = {},
): Promise<TrajectoryFile[]> {
  const folder = join(root, "trajectories");
  const stages = await namesIn(folder, only.stage);
  const found = stages.map(async (stage) => {
    const tasks = await namesIn(join(folder, stage), only.task);
    const files = tasks.map(async (task) => {
      const samples = await namesIn(join(folder, stage, task));
      const numbers = samples.map(Number).filter(Number.isInteger);
      return numbers.sort((a, b) => a - b).map((sample) => ({ stage, task, sample }));
    });
    return (await Promise.all(files)).flat();
  });
  return (await Promise.all(found)).flat();
}

/** Reads the records of the trajectories that have finished, a few files at a time. */
export async function readTrajectories(
  folder: RunFolder,
  files: readonly TrajectoryFile[],
): Promise<TrajectoryRecord[]> {
  const records: (TrajectoryRecord | undefined)[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    for (let index = next++; index < files.length; index = next++) {
      const file = files[index];
      if (file !== undefined) records[index] = await readTrajectoryRecord(folder, file);
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane));
  return records.filter((record) => record !== undefined);
}

/** The record of a trajectory; undefined while it is under way. */
export function readTrajectoryRecord(
  folder: RunFolder,
  file: TrajectoryFile,
): Promise<TrajectoryRecord | undefined> {
  return readRecord<TrajectoryRecord>(join(folder.trajectory(file), "trajectory.json"));
}

/** The sorted names in a folder, or the one asked for; none if there is no such folder. */
async function namesIn(folder: string, only?: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).sort();
    return only === undefined ? names : names.filter((name) => name === only);
  } catch (error) {
    if (isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR")) return [];
    throw error;
  }
}
