import type { SegmentRef, TrajectoryResult } from "../src/contracts/trajectory.ts";

/** A trajectory that can be trained on, and the group it belongs to. */
export interface SampledTrajectory {
  group: string;
  result: TrajectoryResult;
  head: SegmentRef;
}

/** The groups whose rewards differ: the others have no advantage to learn from. */
export function withVariance(groups: SampledTrajectory[][]): SampledTrajectory[][] {
  return groups.filter((group) => new Set(group.map(({ result }) => result.reward)).size > 1);
}
