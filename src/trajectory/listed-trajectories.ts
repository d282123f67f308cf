import { nameOf, type Prefix, prefixOf } from "../store/key.ts";
import type { TrajectoryName } from "../store/keys.ts";
import { listed } from "../store/listed.ts";
import type { Store } from "../store/store.ts";

/** Which trajectories are asked for. */
export interface Only {
  stage?: string | undefined;
  task?: string | undefined;
}

/**
 * The trajectories of a run that have single records, as a listing knows them, in the order of their keys; of one stage or
 * task if named. One with a name that was cut in its key is left out.
 */
export async function* listedTrajectories(
  store: Pick<Store, "list">,
  only: Only = {},
): AsyncGenerator<TrajectoryName> {
  let before = "/";
  for await (const path of listed(store, trajectoriesPrefix(only))) {
    if (path.startsWith(before)) continue;
    const found = trajectoryIn(path);
    if (found === undefined) continue;
    before = found.prefix;
    if (found.name !== undefined && (only.task ?? found.name.task) === found.name.task) yield found.name;
  }
}

/** Where the single records of trajectories are. */
export function trajectoriesPrefix({ stage, task }: Only = {}): Prefix {
  if (stage === undefined) return prefixOf("trajectories");
  return task === undefined ? prefixOf("trajectories", stage) : prefixOf("trajectories", stage, task);
}

/** The trajectory that a path is of: the prefix of its keys, its stage, and its name unless a part of that was cut. */
export function trajectoryIn(
  path: string,
): { prefix: string; stage: string; name: TrajectoryName | undefined } | undefined {
  const match = /^trajectories\/([^/]+)\/([^/]+)\/(\d+)\//.exec(path);
  if (match === null) return undefined;
  const [prefix, stagePart = "", taskPart = "", sample] = match;
  const [stage, task] = [nameOf(stagePart), nameOf(taskPart)];
  const isWhole = stage !== undefined && task !== undefined;
  return {
    prefix,
    stage: stage ?? stagePart,
    name: isWhole ? { stage, task, sample: Number(sample) } : undefined,
  };
}
