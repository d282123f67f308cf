import type { Trajectory } from "./generated/trajectory.ts";

/** The ways in which a trajectory ends. The compiler checks that these are all outcomes of its schema. */
export const outcomes: Record<Trajectory["outcome"], true> = {
  answered: true,
  done: true,
  "turn-limit": true,
  "token-limit": true,
  "time-limit": true,
  "invalid-limit": true,
  "left-out": true,
};
