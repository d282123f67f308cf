import type { LeftOut } from "../src/contracts/ledger.ts";
import type { EndedGroup, TrajectorySummary } from "../src/contracts/rollout.ts";
import type { RunSettings } from "../src/contracts/run-settings.ts";
import type { SegmentRef } from "../src/contracts/trajectory.ts";

/** A trajectory that a step trains on, and the group it belongs to. */
export interface BatchEntry {
  group: string;
  head: SegmentRef;
  result: TrajectorySummary;
}

/**
 * The number of sampling rounds in a step without dynamic sampling. Groups that lost too many members are
 * replaced in the rounds after the first.
 */
const replacingRounds = 3;

/** The maximum number of sampling rounds in a step, including the first. */
export function roundsOf({ dynamicSampling }: Pick<RunSettings, "dynamicSampling">): number {
  return dynamicSampling?.maxRounds ?? replacingRounds;
}

/** Whether a trajectory can be trained on. */
export function hasFinished({ outcome, head }: TrajectorySummary): boolean {
  return outcome !== "left-out" && head !== null;
}

/** Why another task should take a group's place. Undefined if the group can be trained on. */
export function reasonToReplace(
  { results }: EndedGroup,
  { minGroup, dynamicSampling }: Pick<RunSettings, "minGroup" | "dynamicSampling">,
): EndedGroup["leftOut"] {
  const finished = results.filter(hasFinished);
  if (finished.length < minGroup) return "lost";
  const rewards = new Set(finished.flatMap(comparedRewards));
  return dynamicSampling !== undefined && rewards.size < 2 ? "uniform" : undefined;
}

/**
 * Numbers that differ within a group if the rewards that the trainer compares differ. With turn rewards: the
 * lowest and the highest.
 */
export function comparedRewards({ reward, turnRewards }: TrajectorySummary): number[] {
  return turnRewards === undefined ? [reward] : [turnRewards.least, turnRewards.most];
}

/** The trajectories that a step trains on. */
export function batchOf(groups: EndedGroup[]): BatchEntry[] {
  return groups
    .filter(({ leftOut }) => leftOut === undefined)
    .flatMap(({ group, results }) =>
      results.flatMap((result) => {
        const { head } = result;
        return head === null || !hasFinished(result) ? [] : [{ group, head, result }];
      }),
    );
}

/** The groups that a step trained on, without the trajectories that it could not read. */
export function withoutUnreadable(groups: EndedGroup[], unreadable: readonly LeftOut[] = []): EndedGroup[] {
  const reasons = new Map(unreadable.map(({ trajectory, reason }) => [trajectory, reason]));
  if (reasons.size === 0) return groups;
  return groups.map((group) => ({
    ...group,
    results: group.results.map((result): TrajectorySummary => {
      const failure = reasons.get(result.trajectory);
      return failure === undefined ? result : { ...result, outcome: "left-out", failure };
    }),
  }));
}

const reasons = {
  lost: "too many trajectories of its group were left out",
  uniform: "all trajectories of its group earned the same",
  stale: "its group began too many versions ago",
} as const;

/** The trajectories that a step does not train on, each with its reason. */
export function leftOutOf(groups: EndedGroup[]): { trajectory: string; reason: string }[] {
  return groups.flatMap(({ results, leftOut }) =>
    results.flatMap((result) => {
      const { trajectory, failure } = result;
      if (!hasFinished(result)) return [{ trajectory, reason: failure ?? "it generated nothing" }];
      return leftOut === undefined ? [] : [{ trajectory, reason: reasons[leftOut] }];
    }),
  );
}
