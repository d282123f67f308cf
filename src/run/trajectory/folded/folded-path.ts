/**
 * The prefix of the trajectory whose record this is, if it is one that a step's file has: turns, calls, failures, how it
 * ended, and that before its group was compared. Undefined for others, such as who held its tools.
 */
export function foldedPrefix(path: string): string | undefined {
  return /^(trajectories\/[^/]+\/[^/]+\/[^/]+\/)(turn-|calls\/|before-group\.|trajectory\.|left-out-)/.exec(
    path,
  )?.[1];
}
