import type { RunSettings } from "../src/contracts/run-settings.ts";

/** An admitted group, as the scheduler sees it. */
export interface AdmittedGroup {
  number: number;
  /** The oldest version that may have generated a part of the group. */
  policyVersion: number;
  isFinished: boolean;
}

/** The limits of a run's rollout. */
export interface RolloutLimits extends Pick<RunSettings, "groupSize" | "staleness" | "concurrency"> {
  /** Groups per step. */
  groups: number;
}

/**
 * Returns how many groups may start now. `admitted` counts the groups that no step has trained on yet,
 * including those of the current step. `running` counts the trajectories that have not ended. With s steps
 * left, groups for at most min(staleness + 1, s) steps are admitted, so that the steps up to `staleness`
 * versions later can train on all of them. A group starts as a whole.
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
 * Returns the groups that the step from `policyVersion` takes: the finished groups that began first. Returns
 * undefined while the step must wait. It waits if too few groups have finished, or if leaving an older,
 * unfinished group to a later step would make some group miss its last step. A group of version v can be
 * trained by the steps from versions up to v + staleness, and each step takes `groups` of them. This is
 * earliest deadline first: the choice is feasible if, for each version, the steps until then can take all
 * groups that are due by it.
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
