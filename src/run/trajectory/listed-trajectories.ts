import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { nameOf, type Prefix, prefixOf } from "../store/key.ts";
import type { TrajectoryName } from "../store/keys.ts";
import { listed } from "../store/listed.ts";
import type { Store } from "../store/store.ts";

/** Selects trajectories. */
export interface Only {
  stage?: string | undefined;
  task?: string | undefined;
}

/**
 * The trajectories of a run with single records, from a listing, in the order of their keys; those of one stage or
 * task if given. If the key has a cut name, the record contains the full name once the trajectory has ended. Before
 * that, such a trajectory is skipped unless its stage and task are given.
 */
export async function* listedTrajectories(
  store: Pick<Store, "list" | "read">,
  only: Only = {},
): AsyncGenerator<TrajectoryName> {
  let before = "/";
  for await (const path of listed(store, trajectoriesPrefix(only))) {
    if (path.startsWith(before)) continue;
    const found = trajectoryIn(path);
    if (found === undefined) continue;
    before = found.prefix;
    const name = found.name ?? (await nameOfCut(store, found, only));
    if (name !== undefined && (only.task ?? name.task) === name.task) yield name;
  }
}

/** The name of a trajectory whose key was cut. */
async function nameOfCut(
  store: Pick<Store, "read">,
  { prefix, sample }: { prefix: string; sample: number },
  { stage, task }: Only,
): Promise<TrajectoryName | undefined> {
  if (stage !== undefined && task !== undefined) return { stage, task, sample }; // the listing contains no others
  for (const ending of ["trajectory", "left-out-1"]) {
    const record = await store.read<Trajectory>({ path: `${prefix}${ending}.json` });
    if (record !== undefined) return { stage: record.stage, task: record.taskId, sample };
  }
  return undefined;
}

/** The prefix of trajectories' single records. */
export function trajectoriesPrefix({ stage, task }: Only = {}): Prefix {
  if (stage === undefined) return prefixOf("trajectories");
  return task === undefined ? prefixOf("trajectories", stage) : prefixOf("trajectories", stage, task);
}

/**
 * The trajectory that a path belongs to: the prefix of its keys, its stage, and its name unless a part of that was
 * cut.
 */
export function trajectoryIn(
  path: string,
): { prefix: string; stage: string; sample: number; name: TrajectoryName | undefined } | undefined {
  const match = /^trajectories\/([^/]+)\/([^/]+)\/(\d+)\//.exec(path);
  if (match === null) return undefined;
  const [prefix, stagePart = "", taskPart = ""] = match;
  const sample = Number(match[3]);
  const [stage, task] = [nameOf(stagePart), nameOf(taskPart)];
  const isWhole = stage !== undefined && task !== undefined;
  return {
    prefix,
    stage: stage ?? stagePart,
    sample,
    name: isWhole ? { stage, task, sample } : undefined,
  };
}
