import { defined } from "../../../base/records/defined.ts";
import type { Pipeline } from "../../../contracts/generated/pipeline.ts";
import type { Limits } from "../../../contracts/trajectory.ts";
import { parseDuration } from "./duration.ts";

/** The limits of a pipeline's trajectories, with times in milliseconds. */
export function trajectoryLimits({
  turnTime,
  time,
  ...counts
}: NonNullable<Pipeline["rollout"]["limits"]> = {}): Limits {
  return defined({
    ...counts,
    turnTime: turnTime === undefined ? undefined : parseDuration(turnTime),
    time: time === undefined ? undefined : parseDuration(time),
  });
}
