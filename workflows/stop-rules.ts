import type { ToolCallRecord, TrajectoryLimits, TrajectoryProgress } from "../src/contracts/trajectory.ts";

type Reached = Pick<TrajectoryProgress, "turns" | "tokens" | "invalidInARow" | "startedAt" | "heldMs">;

/** The limit that a trajectory has reached at a turn's end; undefined if it goes on. `now` in milliseconds. */
export function reachedLimit(
  limits: TrajectoryLimits,
  progress: Reached,
  now: number,
): "turn-limit" | "token-limit" | "time-limit" | "invalid-limit" | undefined {
  const { turns, tokens } = progress;
  const all = tokens.prompt + tokens.action + tokens.observation;
  if (isReached(progress.invalidInARow, limits.invalidCalls)) return "invalid-limit";
  if (isReached(turns, limits.turns)) return "turn-limit";
  if (isReached(all, limits.tokens)) return "token-limit";
  if (isReached(timeOf(progress, now), limits.time)) return "time-limit";
  return undefined;
}

/** Milliseconds that the next turn may take; undefined without a bound. */
export function turnTime(
  { turnTime, time }: TrajectoryLimits,
  progress: Pick<Reached, "startedAt" | "heldMs">,
  now: number,
): number | undefined {
  const left = time === undefined ? undefined : Math.max(0, time - timeOf(progress, now));
  return turnTime === undefined ? left : Math.min(turnTime, left ?? turnTime);
}

/** How many calls in a row were not valid after those of a turn; once it is `limit` it stays. */
export function invalidInARow(before: number, calls: readonly ToolCallRecord[], limit?: number): number {
  return calls.reduce((row, { valid }) => (isReached(row, limit) ? row : valid ? 0 : row + 1), before);
}

function timeOf({ startedAt, heldMs }: Pick<Reached, "startedAt" | "heldMs">, now: number): number {
  return now - startedAt - heldMs;
}

function isReached(value: number, limit: number | undefined): boolean {
  return limit !== undefined && value >= limit;
}
