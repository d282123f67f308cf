/**
 * The prefix of the trajectory that a record belongs to, if step files include such records: turns, calls, failures,
 * the end of the trajectory, and its record before its group was compared. Undefined for others, such as the holders
 * of its tools.
 */
export function foldedPrefix(path: string): string | undefined {
  return /^(trajectories\/[^/]+\/[^/]+\/[^/]+\/)(turn-|calls\/|before-group\.|trajectory\.|left-out-)/.exec(
    path,
  )?.[1];
}
