import { defined } from "../../../base/records/defined.ts";
import { number } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { firstVersion } from "../../../run/versions/first-version.ts";
import type { Html } from "../html.ts";
import type { RunData } from "../read-run.ts";
import { linePlot, type Series } from "../svg/line-plot.ts";
import { trailingMeans } from "../trailing-means.ts";

const smoothed = 5;

/**
 * The reward curve: the mean of each step's sampled batch, smoothed if there are enough steps, and the mean of the
 * held-out tasks (greedy) where the policy was evaluated.
 */
export function rewardPlot({ plan, steps, evaluations }: RunData): Html {
  const heldOut = evaluations
    .filter(({ policyVersion }) => policyVersion >= firstVersion(plan))
    .flatMap(({ step, rewardMean }) => (rewardMean === undefined ? [] : [[step, rewardMean] as const]));
  const sampled = steps.flatMap(withReward);
  const series: Series[] = [...batchRewards(sampled), ...successes(sampled)];
  if (heldOut.length > 0) {
    series.push({ name: "held-out tasks (greedy)", colour: "orange", dots: true, values: heldOut });
  }
  return linePlot(
    defined({
      title: "Reward",
      note: "Mean of each step's batch, sampled.",
      series,
      format: number,
      low: series.every(({ values }) => values.every(([, value]) => value >= 0)) ? 0 : undefined,
      from: heldOut.some(([step]) => step === 0) ? 0 : undefined,
      steps: plan.steps,
      wide: true,
    }),
  );
}

/** The mean reward at the beginning of reinforcement learning and now; undefined for too few steps. */
export function rewardFact(steps: readonly StepRecord[]): string | undefined {
  const records = steps.flatMap(withReward);
  if (records.length < 2 * smoothed) return undefined;
  const means = trailingMeans(
    records.map(({ rewardMean }) => rewardMean),
    smoothed,
  );
  const [first, last] = [means[smoothed - 1] ?? 0, means.at(-1) ?? 0];
  return `mean reward ${number(first)} over the first ${smoothed} steps, ${number(last)} over the last ${smoothed}`;
}

/** A step's mean reward and success rate. */
interface StepReward {
  step: number;
  rewardMean: number;
  successRate: number;
}

/** Empty for a step without trajectories. */
function withReward({ step, rewardMean, successRate = 0 }: StepRecord): StepReward[] {
  return rewardMean === undefined ? [] : [{ step, rewardMean, successRate }];
}

function batchRewards(records: readonly StepReward[]): Series[] {
  const rewards = records.map(({ rewardMean }) => rewardMean);
  const at = (values: readonly number[]) =>
    records.map(({ step }, index) => [step, values[index] ?? 0] as const);
  if (records.length < 2 * smoothed) return [{ name: "mean reward", colour: "blue", values: at(rewards) }];
  const means = at(trailingMeans(rewards, smoothed));
  return [
    { name: "a step's mean reward", colour: "blue", faint: true, values: at(rewards) },
    { name: `mean of the last ${smoothed} steps`, colour: "blue", values: means },
  ];
}

/** The success rate, unless it equals the reward. */
function successes(records: readonly StepReward[]): Series[] {
  const isSame = records.every((record) => Math.abs(record.rewardMean - record.successRate) < 1e-9);
  const values = records.map(({ step, successRate }) => [step, successRate] as const);
  return isSame ? [] : [{ name: "success rate", colour: "aqua", dashed: true, values }];
}
