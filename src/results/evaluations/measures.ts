import { meanEstimate, shareEstimate } from "../../base/statistics/estimate.ts";
import { majorityShare } from "../../base/statistics/majority.ts";
import { mean } from "../../base/statistics/mean.ts";
import { passAtK, toldAtK } from "../../base/statistics/pass-at-k.ts";
import type { Estimate } from "../../contracts/measured.ts";
import type { TaskOutcomes } from "./outcomes.ts";

/** A measure of a task. */
export interface Measure {
  name: string;
  of(task: TaskOutcomes): number;
  estimate(values: readonly number[]): Estimate;
}

/**
 * The measures for tasks with this number of samples: `accuracy`, for several samples also `pass@2` … `pass@N` and
 * `maj@N`, and `reward`.
 */
export function measuresOf(samples: number): Measure[] {
  const share = (name: string, of: Measure["of"]): Measure => ({ name, of, estimate: shareEstimate });
  const several = toldAtK(samples).filter((k) => k > 1);
  return [
    share("accuracy", successRate),
    ...several.map((k) => share(`pass@${k}`, (task) => passOf(task, k))),
    ...(samples > 1
      ? [share(`maj@${samples}`, (task) => majorityShare(task.samples, task.task.reward_model.ground_truth))]
      : []),
    { name: "reward", of: meanReward, estimate: meanEstimate },
  ];
}

/** The share of a task's samples that solved it. */
export function successRate({ samples }: TaskOutcomes): number {
  return mean(samples.map(({ success }) => Number(success)));
}

function meanReward({ samples }: TaskOutcomes): number {
  return mean(samples.map(({ reward }) => reward));
}

function passOf({ samples }: TaskOutcomes, k: number): number {
  const solved = samples.filter(({ success }) => success).length;
  return passAtK(samples.length, solved, Math.min(k, samples.length));
}
