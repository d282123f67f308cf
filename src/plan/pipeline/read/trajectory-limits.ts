import type { Pipeline } from "../../../contracts/generated/pipeline.ts";
import type { TrajectoryLimits } from "../../../contracts/trajectory.ts";
import { parseDuration } from "./duration.ts";

/** The limits of a pipeline's trajectories, times in milliseconds. */
export function trajectoryLimits({
  turnTime,
  time,
  ...counts
}: NonNullable<Pipeline["rollout"]["limits"]> = {}): TrajectoryLimits {
  return {
    ...counts,
    ...(turnTime === undefined ? {} : { turnTime: parseDuration(turnTime) }),
    ...(time === undefined ? {} : { time: parseDuration(time) }),
  };
}
