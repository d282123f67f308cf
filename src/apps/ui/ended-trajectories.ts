import { ahead } from "../../base/async/ahead.ts";
import { collected } from "../../base/async/collected.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import type { RecordReader } from "../../run/trajectory/reader.ts";

/** A trajectory, and its result if it has ended. */
export interface Member {
  name: TrajectoryName;
  ended: FinishedTrajectory | undefined;
}

/** Reads the results of trajectories, in their order. */
export function withResults(reader: RecordReader, names: readonly TrajectoryName[]): Promise<Member[]> {
  return collected(
    ahead(names, objectsAtOnce, async (name) => ({ name, ended: await reader.finished(name) })),
  );
}

/** The rewards of those that have ended and were not left out. */
export function rewardsOf(members: readonly Member[]): number[] {
  return members.flatMap(({ ended }) =>
    ended === undefined || ended.outcome === "left-out" ? [] : [ended.reward],
  );
}
