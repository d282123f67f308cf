import type { Trajectory } from "./generated/trajectory.ts";

/** The ways in which a trajectory ends: all that its schema has, which the compiler sees to. */
export const outcomes: Record<Trajectory["outcome"], true> = {
  answered: true,
  done: true,
  "turn-limit": true,
  "token-limit": true,
  "time-limit": true,
  "invalid-limit": true,
  "left-out": true,
};
