import type { Call } from "../src/contracts/generated/trajectory.ts";
import type { Limits, TrajectoryProgress } from "../src/contracts/trajectory.ts";

type Reached = Pick<TrajectoryProgress, "turns" | "tokens" | "invalidInARow">;

/**
 * Returns the limit that a trajectory has reached at the end of a turn, after `time` ms of work. Undefined if
 * it continues.
 */
export function reachedLimit(
  limits: Limits,
  progress: Reached,
  time: number,
): "turn-limit" | "token-limit" | "time-limit" | "invalid-limit" | undefined {
  const { turns, tokens } = progress;
  const all = tokens.prompt + tokens.action + tokens.observation;
  if (isReached(progress.invalidInARow, limits.invalidCalls)) return "invalid-limit";
  if (isReached(turns, limits.turns)) return "turn-limit";
  if (isReached(all, limits.tokens)) return "token-limit";
  if (isReached(time, limits.time)) return "time-limit";
  return undefined;
}

/** Milliseconds of work that the next turn may take, after `worked` ms. Undefined without a limit. */
export function timeOfTurn({ turnTime, time }: Limits, worked: number): number | undefined {
  const left = time === undefined ? undefined : Math.max(0, time - worked);
  return turnTime === undefined ? left : Math.min(turnTime, left ?? turnTime);
}

/** Counts the invalid calls in a row at the end of a turn. The count stays at `limit` once it is reached. */
export function invalidInARow(before: number, calls: readonly Call[], limit?: number): number {
  return calls.reduce((row, { valid }) => (isReached(row, limit) ? row : valid ? 0 : row + 1), before);
}

function isReached(value: number, limit: number | undefined): boolean {
  return limit !== undefined && value >= limit;
}
