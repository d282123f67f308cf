/** A group that has been admitted, as the scheduler sees it. */
export interface AdmittedGroup {
  number: number;
  /** The oldest version that may have generated a part of it. */
  policyVersion: number;
  isFinished: boolean;
}

/** What a run allows. */
export interface RolloutLimits {
  /** Groups of a step. */
  groups: number;
  groupSize: number;
  /** Versions that a group may be behind the step that trains on it. */
  staleness: number;
  /** Trajectories at once. */
  concurrency: number;
}

/**
 * How many groups may start now. `admitted` are those that no step has trained on yet, the one under way included;
 * `running` trajectories have not ended. With s steps still to come, no more than min(staleness + 1, s) steps' groups
 * are admitted: the next steps, up to the one `staleness` versions on, can train on them all. A group starts whole.
 */
export function admissible(
  { groups, groupSize, staleness, concurrency }: RolloutLimits,
  { admitted, running, stepsLeft }: { admitted: number; running: number; stepsLeft: number },
): number {
  const byStaleness = groups * Math.min(staleness + 1, stepsLeft) - admitted;
  const room = Math.floor((concurrency - running) / groupSize);
  const byRoom = running === 0 ? Math.max(1, room) : room;
  return Math.max(0, Math.min(byStaleness, byRoom));
}

/**
 * The groups that the step from `policyVersion` takes: the finished ones that began first. Undefined while it must
 * wait: too few have finished, or without an older group that has not, some group could no longer be trained in time.
 * A group of version v can be trained by the steps from versions up to v + staleness, each of which takes `groups`
 * (earliest deadline first; feasible if for each version no more groups are due by it than the steps until then take).
 */
export function chooseGroups(
  admitted: readonly AdmittedGroup[],
  policyVersion: number,
  { groups, staleness }: Pick<RolloutLimits, "groups" | "staleness">,
): number[] | undefined {
  const byAge = [...admitted].sort((a, b) => a.policyVersion - b.policyVersion || a.number - b.number);
  const taken = byAge.filter(({ isFinished }) => isFinished).slice(0, groups);
  if (taken.length < groups) return undefined;
  const isTaken = new Set(taken);
  const left = byAge.filter((group) => !isTaken.has(group));
  const isInTime = left.every(
    (group, index) => index + 1 <= (group.policyVersion + staleness - policyVersion) * groups,
  );
  if (!isInTime && left.some(({ isFinished }) => !isFinished)) return undefined;
  return taken.map(({ number }) => number).sort((a, b) => a - b);
}
