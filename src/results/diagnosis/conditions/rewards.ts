import { mean } from "../../../base/statistics/mean.ts";
import { number, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { comparesGroups } from "../../../plan/pipeline/check/compares-groups.ts";
import { type Condition, type Evidence, isOnRollouts, lastStep, lastSteps } from "../condition.ts";
import { greedySampling } from "./actions.ts";

/** Spreads below this are rounding. */
const least = 1e-9;

function isConstant(record: StepRecord): boolean {
  const { rewardSpreadWithin: within = 0, rewardSpreadBetween: between } = record;
  return isOnRollouts(record) && between !== undefined && within < least && between < least;
}

/** Every step so far gave all of its trajectories one reward, two steps or more. */
function constantReward({ steps }: Evidence): number | undefined {
  if (steps.length < 2 || !steps.every(isConstant)) return undefined;
  const rewards = steps.map(({ rewardMean = 0 }) => rewardMean);
  const [first = 0] = rewards;
  return rewards.every((reward) => Math.abs(reward - first) < least) ? first : undefined;
}

/** What the actions show about a reward of 0. */
function actionFacts({ toolCallRate = 0, unreadableCallRate = 0, cutActionShare = 0 }: StepRecord): string {
  const facts = [
    `${percent(toolCallRate, 0)} of them made a tool call that could be read`,
    unreadableCallRate > 0 ? `${percent(unreadableCallRate, 0)} of the calls could not be read` : "",
    cutActionShare > 0 ? `a limit cut ${percent(cutActionShare, 0)} of the actions` : "",
  ];
  return facts.filter((text) => text !== "").join(", ");
}

export const neverRewarded: Condition = {
  title: "No trajectory earns a reward",
  when: "In every step so far, two or more, all trajectories earned 0.",
  consequence: "There is nothing to reinforce: the policy does not change, or changes at random.",
  remedies: [
    "Read a few trajectories (`npx everturn show TRAJECTORY`): does the policy write calls in the expected format, and does the reward recognize a right answer?",
    "Warm-start on demonstrations of the task (`warmStart.demonstrations`).",
    "Train on easier tasks first, or use a reward with partial credit.",
    "Start from a stronger or instruction-tuned model.",
  ],
  find: (evidence) => {
    if (constantReward(evidence) !== 0) return undefined;
    const { steps } = evidence;
    return `all trajectories of ${steps.length} steps earned 0; in the last step, ${actionFacts(lastStep(evidence))}`;
  },
};

export const constantRewards: Condition = {
  title: "All trajectories earn the same",
  when: "In every step so far, two or more, all trajectories earned the same reward, and it is not 0.",
  consequence:
    "The reward does not distinguish good trajectories from bad ones, so the policy learns nothing.",
  remedies: [
    "Check that the reward gives a lower score to a wrong answer (`npx everturn rescore RUN`).",
    "If the policy already solves every task, train on harder ones.",
    "Check that `reward_model.ground_truth` differs between tasks as it should.",
  ],
  find: (evidence) => {
    const reward = constantReward(evidence);
    if (reward === undefined || reward === 0) return undefined;
    return `all trajectories of ${evidence.steps.length} steps earned ${number(reward)}`;
  },
};

const mostUniform = 0.8;

export const uniformGroups: Condition = {
  title: "The trajectories of most groups earn the same",
  when: `In two steps in a row, at least ${percent(mostUniform, 0)} of the groups were uniform, the success rate was below 90 %, and the trainer compares the trajectories of a group.`,
  consequence:
    "A uniform group has no advantages, so it contributes no gradient. The step trains on the few groups that remain.",
  remedies: [
    "Use tasks of medium difficulty: the policy should solve some of them sometimes.",
    "Sample with a higher `rollout.temperature`.",
    "Use larger groups (`rollout.groupSize`), or replace uniform groups with `rollout.dynamicSampling`.",
    "Use a reward with more levels than right and wrong.",
  ],
  find: (evidence) => {
    if (!comparesGroups(evidence.plan) || constantReward(evidence) !== undefined) return undefined;
    if (greedySampling.find(evidence) !== undefined) return undefined;
    const isSo = (record: StepRecord) =>
      (record.uniformGroupShare ?? 0) >= mostUniform && (record.successRate ?? 0) < 0.9;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { uniformGroupShare = 0, zeroGroupShare = 0, oneGroupShare = 0 } = lastStep(evidence);
    const at = `${percent(zeroGroupShare, 0)} at 0, ${percent(oneGroupShare, 0)} at 1`;
    return `${percent(uniformGroupShare, 0)} of the groups are uniform (${at})`;
  },
};

/** A lead below this part of the rewards' spread is a correlation below 0.15 where half of the trajectories are solved. */
const leastLead = 0.3;

/** The lead of solved trajectories in the last two steps, and the spread of their rewards, if both are well known. */
function solvedLead(evidence: Evidence): { lead: number; spread: number } | undefined {
  const isMixed = ({ successRate = 0, solvedRewardLead }: StepRecord) =>
    solvedRewardLead !== undefined && successRate >= 0.2 && successRate <= 0.8;
  const last = lastSteps(evidence, 2, isMixed);
  if (last === undefined || mean(last.map(({ trajectories }) => trajectories)) < 24) return undefined;
  const spreadOf = ({ rewardSpreadWithin = 0, rewardSpreadBetween = 0 }: StepRecord) =>
    Math.hypot(rewardSpreadWithin, rewardSpreadBetween);
  return {
    lead: mean(last.map(({ solvedRewardLead = 0 }) => solvedRewardLead)),
    spread: mean(last.map(spreadOf)),
  };
}

export const rewardWithoutSuccess: Condition = {
  title: "The reward does not depend on success",
  when: `In the last two steps, which had 24 or more trajectories each on average and solved 20 to 80 % of them, solved trajectories earned about as much as the others: the difference was below ${leastLead} of the rewards' spread, and [uniform-groups](#uniform-groups) does not hold.`,
  consequence: "The policy learns whatever the reward pays for, but not to solve the task.",
  remedies: [
    "Read the rewards of a few solved and unsolved trajectories (`npx everturn trajectories RUN`, then `npx everturn show TRAJECTORY`).",
    "Raise the weight of the reward that recognizes a right answer, or lower the others.",
    "If a model judges, check that its answers repeat and that it sees the task (`npx everturn rescore RUN`).",
  ],
  find: (evidence) => {
    if (uniformGroups.find(evidence) !== undefined) return undefined; // the reward depends on the task alone
    const found = solvedLead(evidence);
    if (found === undefined || found.spread < least) return undefined;
    const { lead, spread } = found;
    if (Math.abs(lead) >= leastLead * spread) return undefined;
    const compared = `${number(Math.abs(lead))} ${lead < 0 ? "less" : "more"} than the others`;
    return `solved trajectories earned ${compared}, and rewards spread by ${number(spread)}`;
  },
};

export const rewardAgainstSuccess: Condition = {
  title: "Solved trajectories earn less than others",
  when: "In two steps in a row, trajectories that count as solved earned less on average than the others.",
  consequence: "The policy learns to fail.",
  remedies: [
    "Check the sign of the reward and the weights of several rewards.",
    "Check the sizes of penalties, such as those for length: the reward of a right answer must exceed them.",
  ],
  find: (evidence) => {
    const found = lastSteps(evidence, 2, ({ solvedRewardLead }) => (solvedRewardLead ?? 0) < -least);
    if (found === undefined || rewardWithoutSuccess.find(evidence) !== undefined) return undefined;
    return `solved trajectories earned ${number(-(lastStep(evidence).solvedRewardLead ?? 0))} less than the others`;
  },
};

const largeSpread = 20;

export const largeRewards: Condition = {
  title: "Rewards are large",
  when: `In two steps in a row, the rewards were divided by nothing and their spread was above ${largeSpread}.`,
  consequence:
    "The value loss and the gradient grow with the rewards. Gradient clipping then leaves little of the policy's part.",
  remedies: [
    "Scale the reward to about 0 to 1.",
    "Set `trainer.config.rewardNormalization: scale`, or `rewardClip`.",
  ],
  find: (evidence) => {
    const { rewardNormalization = "none", normalization } = evidence.plan.trainer.config;
    if (rewardNormalization !== "none" || normalization === "group" || comparesGroups(evidence.plan)) {
      return undefined;
    }
    const isSo = ({ rewardSpreadBetween = 0 }: StepRecord) => rewardSpreadBetween > largeSpread;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `the groups' mean rewards spread by ${number(lastStep(evidence).rewardSpreadBetween ?? 0)}`;
  },
};

/** How much of a share may be lost by chance: two standard errors of a share of this number of tasks. */
function chance(tasks: number): number {
  return Math.max(0.05, 2 * Math.sqrt(0.25 / Math.max(1, tasks)));
}

/** The loss of held-out accuracy since the best evaluation, if chance does not explain it. */
function lostAccuracy({ evaluations }: Evidence): string | undefined {
  const now = evaluations.at(-1);
  if (now === undefined || now.step === 0) return undefined;
  const best = evaluations.reduce((most, { accuracy }) => Math.max(most, accuracy), 0);
  if (best - now.accuracy < chance(now.tasks)) return undefined;
  return `held-out accuracy fell from ${percent(best)} to ${percent(now.accuracy)}`;
}

/** The loss of success since the first step, if chance does not explain it: both shares are of few trajectories. */
function lostSuccess({ steps: [first, ...later] }: Evidence): string | undefined {
  const last = later.at(-1);
  if (first?.successRate === undefined || last?.successRate === undefined) return undefined;
  const lost = first.successRate - last.successRate;
  if (lost < Math.SQRT2 * chance(last.trajectories)) return undefined;
  return `the success rate fell from ${percent(first.successRate, 0)} to ${percent(last.successRate, 0)}`;
}

function rewardHackingEvidence(evidence: Evidence): string | undefined {
  const [first] = evidence.steps;
  const last = lastStep(evidence);
  const gained = (last.rewardMean ?? 0) - (first?.rewardMean ?? 0);
  const isGained = gained > 0.02;
  const gain = `the mean reward rose by ${number(gained)}`;
  const lost = lostAccuracy(evidence);
  if (lost === undefined) {
    const unsolved = isGained ? lostSuccess(evidence) : undefined;
    return unsolved && `${unsolved}, while ${gain}`;
  }
  const longer = (last.actionLength ?? 0) / Math.max(1, first?.actionLength ?? 0);
  const unreadable = (last.unreadableCallRate ?? 0) - (first?.unreadableCallRate ?? 0);
  const signs = [
    isGained ? gain : "",
    longer > 1.5 || longer < 0.5 ? `actions have ${number(longer)} times their first length` : "",
    unreadable > 0.1 ? `${percent(unreadable, 0)} more of the calls cannot be read` : "",
  ].filter((text) => text !== "");
  return signs.length === 0 ? undefined : `${lost}, while ${signs.join(" and ")}`;
}

export const rewardHacking: Condition = {
  title: "Fewer tasks are solved while the reward rises",
  when: "Held-out accuracy fell by at least 5 points and by more than chance explains, while the mean reward rose, or the length of actions changed by half, or more calls became unreadable; or the success rate of a step was lower than that of the first one by more than chance explains, while the mean reward rose.",
  consequence: "The policy learns to satisfy the reward without solving the task.",
  remedies: [
    "Read trajectories of the last step with a high reward, and close the gap in the reward.",
    "Raise `trainer.config.klCoefficient`, or lower the learning rate.",
    "Continue from an earlier version: `npx everturn versions RUN`.",
  ],
  find: rewardHackingEvidence,
};

/** The variance of a step's mean reward, which has a few tasks only. */
function varianceOfMean(record: StepRecord, groupSize: number): number {
  const { rewardSpreadWithin: within = 0, rewardSpreadBetween: between = 0, trajectories } = record;
  return (between ** 2 * groupSize + within ** 2) / Math.max(1, trajectories);
}

export const rewardCollapse: Condition = {
  title: "The reward collapses",
  when: "In two steps in a row, the mean reward was below half of an earlier step's, which was at least 0.1, and three standard errors of the difference do not explain it.",
  consequence: "The policy has lost abilities that it had. It seldom regains them.",
  remedies: [
    "Lower `trainer.config.learningRate` (by 3 to 10 times), and continue from an earlier version.",
    "Raise `trainer.config.klCoefficient`.",
  ],
  find: (evidence) => {
    const onRollouts = evidence.steps.filter(isOnRollouts);
    const [best] = onRollouts.slice(0, -2).toSorted((one, other) => other.rewardMean - one.rewardMean);
    if (best === undefined || best.rewardMean < 0.1) return undefined;
    const isSo = (record: StepRecord) => isOnRollouts(record) && record.rewardMean < best.rewardMean / 2;
    const last = lastSteps(evidence, 2, isSo);
    if (last === undefined) return undefined;
    const variance = (record: StepRecord) => varianceOfMean(record, evidence.plan.rollout.groupSize);
    const error = Math.sqrt(variance(best) + mean(last.map(variance)) / 2);
    const now = mean(last.map(({ rewardMean = 0 }) => rewardMean));
    if (best.rewardMean - now < 3 * error) return undefined;
    return `the mean reward fell from ${number(best.rewardMean)} to ${number(lastStep(evidence).rewardMean ?? 0)}`;
  },
};

export const tasksExhausted: Condition = {
  title: "The policy has learned the training tasks by heart",
  when: "In three steps in a row, at least 99 % of the trajectories were solved, while held-out accuracy is below 90 %.",
  consequence: "Further steps on the same tasks teach nothing that carries over to other tasks.",
  remedies: [
    "Add training tasks, or mix in other data sets (`dataset.mix`).",
    "Stop here: `npx everturn resume RUN --set steps=N` with the number of steps done.",
  ],
  find: (evidence) => {
    const heldOut = evidence.evaluations.at(-1);
    if (heldOut === undefined || heldOut.step === 0 || heldOut.accuracy >= 0.9) return undefined;
    if (lastSteps(evidence, 3, ({ successRate = 0 }) => successRate >= 0.99) === undefined) return undefined;
    return `${percent(lastStep(evidence).successRate ?? 0, 0)} of the training tasks are solved, but ${percent(heldOut.accuracy)} of the held-out tasks`;
  },
};
