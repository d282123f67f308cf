import { defined } from "../src/base/records/defined.ts";
import { mean } from "../src/base/statistics/mean.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { EndedGroup } from "../src/contracts/rollout.ts";
import { comparedRewards, hasFinished } from "./ended-groups.ts";

type GroupNumbers = Pick<
  StepRecord,
  | "uniformGroupShare"
  | "zeroGroupShare"
  | "oneGroupShare"
  | "rewardSpreadWithin"
  | "rewardSpreadBetween"
  | "limitedShare"
  | "solvedRewardLead"
>;

/**
 * How far rewards differ within and between groups, and how trajectories ended, over those that finished. Groups that
 * train nothing count too. Shares of groups and the spread within groups are absent unless a group has two finished
 * trajectories.
 */
export function groupNumbers(groups: readonly EndedGroup[]): GroupNumbers {
  const finished = groups
    .map(({ results }) => results.filter(hasFinished))
    .filter(({ length }) => length > 0);
  const compared = finished.filter(({ length }) => length > 1);
  const all = finished.flat();
  const solved = all.filter(({ success }) => success).map(({ reward }) => reward);
  const unsolved = all.filter(({ success }) => !success).map(({ reward }) => reward);
  const rewardsOf = finished.map((results) => results.map(({ reward }) => reward));
  const uniform = compared
    .map((results) => new Set(results.flatMap(comparedRewards)))
    .filter(({ size }) => size === 1);
  const share = (count: number) => (compared.length === 0 ? undefined : count / compared.length);
  return defined({
    uniformGroupShare: share(uniform.length),
    zeroGroupShare: share(uniform.filter((rewards) => rewards.has(0)).length),
    oneGroupShare: share(uniform.filter((rewards) => rewards.has(1)).length),
    rewardSpreadWithin:
      compared.length === 0
        ? undefined
        : mean(rewardsOf.filter(({ length }) => length > 1).map(standardDeviation)),
    rewardSpreadBetween: rewardsOf.length === 0 ? undefined : standardDeviation(rewardsOf.map(mean)),
    limitedShare:
      all.length === 0 ? undefined : mean(all.map(({ outcome }) => Number(outcome.endsWith("-limit")))),
    solvedRewardLead:
      solved.length === 0 || unsolved.length === 0 ? undefined : mean(solved) - mean(unsolved),
  });
}

/** The population standard deviation, which divides by the number of values. */
function standardDeviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}
