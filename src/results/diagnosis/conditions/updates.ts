import { number, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Condition, isOnRollouts, lastStep, lastSteps } from "../condition.ts";

export const zeroGradient: Condition = {
  title: "The gradient is zero",
  when: "In two steps in a row, the gradient norm was below 1e-9 although rewards differed.",
  consequence: "The weights do not change.",
  remedies: [
    "If `trainer.config.maskTruncated` is on, check how many trajectories a limit cut.",
    "Check a custom loss: it must depend on the log-probabilities of the actions.",
    "Check `trainer.config.valueWarmupSteps`: until it has passed, only the values are trained.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) =>
      Math.abs(record.gradientNorm) < 1e-9 &&
      (!isOnRollouts(record) || (record.rewardSpreadBetween ?? 0) + (record.rewardSpreadWithin ?? 0) > 1e-9);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `the gradient norm is ${number(lastStep(evidence).gradientNorm)}`;
  },
};

const hugeGradient = 1000;

export const explodingGradient: Condition = {
  title: "The gradient explodes",
  when: `In two steps in a row, the gradient norm was not finite or above ${hugeGradient}.`,
  consequence: "Clipping leaves only its direction, which is mostly noise at this size.",
  remedies: [
    "Lower `trainer.config.learningRate` (by 3 to 10 times), and lengthen `warmupSteps`.",
    "Scale large rewards (`trainer.config.rewardNormalization: scale`).",
  ],
  find: (evidence) => {
    const isSo = ({ gradientNorm }: StepRecord) => !(Math.abs(gradientNorm) <= hugeGradient);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `the gradient norm is ${number(lastStep(evidence).gradientNorm)}`;
  },
};

/** Nats per token of a policy that chooses among 160,000 tokens at random. */
const worstLoss = 12;

export const learningRateHigh: Condition = {
  title: "The learning rate is too high",
  when: "In a step, the policy moved by more than 0.2 nats per token, or its KL divergence to the reference rose by more than 0.5 nats, or the clip range cut more than 40 % of the tokens; or the loss on examples rose to 1.5 times its first value, or that on demonstrations is above 12 nats per token, which is worse than random.",
  consequence: "Each update undoes what the previous ones learned. The policy soon writes nonsense.",
  remedies: [
    "Lower `trainer.config.learningRate` by 3 to 10 times. docs/choosing.md lists usual values.",
    "Use fewer updates per step (`epochs: 1`, larger `minibatchSize`), or set `klStop`.",
  ],
  find: ({ steps, plan }) => {
    const last = steps.at(-1);
    const [first] = steps;
    if (last === undefined || first === undefined) return undefined;
    const rate = `the learning rate is ${number(last.learningRate)}`;
    if ((last.approximateKl ?? 0) > 0.2) {
      return `a step moved the policy by ${number(last.approximateKl ?? 0)} nats per token; ${rate}`;
    }
    const rise = (last.kl ?? 0) - (steps.at(-2)?.kl ?? 0);
    // At a low temperature, the least change of the logits changes the tempered probabilities a lot.
    if (steps.length > 1 && rise > 0.5 && plan.rollout.temperature >= 0.3) {
      return `a step moved the policy ${number(rise)} nats per token away from the reference; ${rate}`;
    }
    // GSPO clips most of its sequences on purpose: its range is a thousandth of PPO's.
    if ((last.clipFraction ?? 0) > 0.4 && plan.trainer.config.algorithm !== "gspo") {
      return `${percent(last.clipFraction ?? 0, 0)} of the tokens are clipped; ${rate}`;
    }
    if (first.loss === undefined || last.loss === undefined) return undefined;
    if (plan.sft !== undefined && last.loss > worstLoss) return `the loss is ${number(last.loss)}; ${rate}`;
    if (last.loss < 1.5 * first.loss || last.loss - first.loss < 0.1) return undefined;
    return `the loss rose from ${number(first.loss)} to ${number(last.loss)}; ${rate}`;
  },
};

export const learningRateLow: Condition = {
  title: "The learning rate is too low",
  when: "After three steps with gradients, the policy moved by less than 1e-8 nats per token from where it started; or the loss on examples changed by less than 0.01 %.",
  consequence: "The policy will not change noticeably within the run.",
  remedies: [
    "Raise `trainer.config.learningRate` by 10 to 100 times. docs/choosing.md lists usual values.",
    "Check `warmupSteps` and `decaySteps`: a warm-up longer than the run keeps the rate low.",
    "Check `gradientClip`: 1 is usual.",
  ],
  find: (evidence) => {
    const { steps } = evidence;
    const last = lastStep(evidence);
    const [first = last] = steps;
    if (lastSteps(evidence, 3, ({ gradientNorm }) => gradientNorm > 1e-6) === undefined) return undefined;
    const rate = `the learning rate is ${number(last.learningRate)}`;
    const moved = last.kl ?? movedWithin(last);
    if (moved !== undefined && Math.abs(moved) < 1e-8) {
      return `after step ${last.step} the policy has moved by ${number(moved)} nats per token; ${rate}`;
    }
    if (first.loss === undefined || last.loss === undefined) return undefined;
    // The held-out examples are the same in each step.
    const losses = steps.slice(-3).map(({ heldOutLoss, loss = 0 }) => heldOutLoss ?? loss);
    const range = Math.max(...losses) - Math.min(...losses);
    if (range > 1e-4 * Math.abs(first.loss)) return undefined;
    return `the loss has stayed at ${number(last.loss)}; ${rate}`;
  },
};

/** How far a step's updates moved the policy, where it made several; a single one is measured before it acts. */
function movedWithin({ approximateKl, clipFraction = 0 }: StepRecord): number | undefined {
  return approximateKl === undefined || approximateKl === 0 || clipFraction > 0 ? undefined : approximateKl;
}

const largeKl = 1;

export const klGrowth: Condition = {
  title: "The policy leaves its reference",
  when: `In two steps in a row, the KL divergence to the reference was above ${largeKl} nat per token.`,
  consequence:
    "The policy has forgotten much of what the model knew. Its text often becomes repetitive or unreadable.",
  remedies: [
    "Raise `trainer.config.klCoefficient`, or steer it with `klTarget`.",
    "Lower `trainer.config.learningRate`.",
  ],
  find: (evidence) => {
    if (lastSteps(evidence, 2, ({ kl = 0 }) => Math.abs(kl) > largeKl) === undefined) return undefined;
    return `the KL divergence is ${number(lastStep(evidence).kl ?? 0)} nats per token`;
  },
};

export const strongKlPenalty: Condition = {
  title: "The KL penalty holds the policy at its reference",
  when: "`trainer.config.klCoefficient` is 1 or more without `klTarget`, and after two steps the KL divergence is below 0.01 nats per token.",
  consequence: "The penalty outweighs the reward, so the policy stays where it is.",
  remedies: [
    "Lower `trainer.config.klCoefficient`: 0 to 0.05 is usual.",
    "Let `klTarget` adapt the coefficient.",
  ],
  find: (evidence) => {
    const { klCoefficient, klTarget } = evidence.plan.trainer.config;
    if (typeof klCoefficient !== "number" || klCoefficient < 1 || klTarget !== undefined) return undefined;
    if (lastSteps(evidence, 2, ({ kl }) => kl !== undefined && Math.abs(kl) < 0.01) === undefined)
      return undefined;
    return `trainer.config.klCoefficient is ${number(klCoefficient)}; the KL divergence is ${number(lastStep(evidence).kl ?? 0)} nats per token`;
  },
};

export const entropyGrowth: Condition = {
  title: "The policy becomes random",
  when: "In two steps in a row, the entropy was at least twice that of the first step and at least 0.5 nats per token more, while the reward did not rise.",
  consequence: "Updates make the policy less certain instead of better.",
  remedies: [
    "Lower `trainer.config.entropyCoefficient`: 0 to 0.01 is usual.",
    "Lower `trainer.config.learningRate`.",
  ],
  find: (evidence) => {
    const [first] = evidence.steps;
    if (first?.entropy === undefined) return undefined;
    const { entropy: before, rewardMean: reward = 0 } = first;
    const isSo = ({ entropy = 0, rewardMean = 0 }: StepRecord) =>
      entropy >= Math.max(2 * before, before + 0.5) && rewardMean <= reward;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `the entropy rose from ${number(before)} to ${number(lastStep(evidence).entropy ?? 0)} nats per token`;
  },
};

const littleEntropy = 0.02;

export const entropyCollapse: Condition = {
  title: "The policy has stopped exploring",
  when: `In two steps in a row, the entropy was below ${littleEntropy} nats per token, and the policy solved less than half of the tasks.`,
  consequence:
    "All trajectories of a task are nearly the same, so nothing better than what the policy does now can be found.",
  remedies: [
    "Continue from an earlier version, with a lower learning rate or a higher `trainer.config.entropyCoefficient`.",
    "Widen the clip range upward (`clipHigh: 0.28`, as DAPO does).",
    "Sample with a higher `rollout.temperature`, and do not warm up for too many supervised steps.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) =>
      (record.entropy ?? 1) < littleEntropy && (record.successRate ?? 1) < 0.5;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { entropy = 0, successRate = 0 } = lastStep(evidence);
    return `the entropy is ${number(entropy)} nats per token at a success rate of ${percent(successRate, 0)}`;
  },
};

export const deadValueHead: Condition = {
  title: "The value head does not learn",
  when: "The value loss changed by less than 0.01 % over three steps, or the critic's gradient was zero in two steps in a row, or `trainer.config.valueCoefficient` is 0 while there is a value loss.",
  consequence: "Advantages are as noisy as without a value head.",
  remedies: [
    "Raise `trainer.config.valueLearningRate`, or remove it to use the default.",
    "Check that `trainer.config.valueCoefficient` is not 0.",
    "Use an algorithm without a value head: `grpo` or `rloo`.",
  ],
  find: (evidence) => {
    if (lastSteps(evidence, 2, ({ valueGradientNorm }) => valueGradientNorm === 0) !== undefined) {
      return "the critic's gradient is 0";
    }
    if (evidence.plan.trainer.config.valueCoefficient === 0 && lastStep(evidence).valueLoss !== undefined) {
      return "trainer.config.valueCoefficient is 0";
    }
    const recent = lastSteps(evidence, 3, ({ valueLoss }) => valueLoss !== undefined) ?? [];
    const losses = recent.flatMap(({ valueLoss }) => valueLoss ?? []);
    const most = Math.max(0, ...losses);
    if (losses.length === 0 || most === 0 || most - Math.min(...losses) > 1e-4 * most) return undefined;
    return `the value loss has stayed at ${number(most)}`;
  },
};

export const samplerGap: Condition = {
  title: "The sampler and the trainer disagree",
  when: "In two steps in a row, recorded and recomputed log-probabilities differed by more than 0.05 on average, or the sampler's policy was 0.02 nats per token from the trainer's.",
  consequence: "The step trains on actions as if another policy had sampled them, which biases the gradient.",
  remedies: [
    "Use the same precision and the same weights on both sides. Few-bit samplers need `trainer.config.importanceCorrection: token-truncate`.",
    "Check that the inference server loads each new version, and that it applies no repetition penalty of its own.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) =>
      (record.logprobGapMean ?? 0) > 0.05 || (record.samplerKl ?? 0) > 0.02;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { logprobGapMean = 0, samplerKl = 0 } = lastStep(evidence);
    return `log-probabilities differ by ${number(logprobGapMean)} on average, the policies by ${number(samplerKl)} nats per token`;
  },
};

export const staleActions: Condition = {
  title: "Actions are stale",
  when: "In two steps in a row, the trajectories of the batch were four or more versions old on average.",
  consequence: "The policy has changed since it sampled these actions, so most of their gradient is clipped.",
  remedies: [
    "Lower `rollout.staleness`.",
    "Balance the two sides: fewer trajectories at once, or a faster trainer.",
  ],
  find: (evidence) => {
    if (lastSteps(evidence, 2, ({ stalenessMean = 0 }) => stalenessMean >= 4) === undefined) return undefined;
    return `the batch is ${number(lastStep(evidence).stalenessMean ?? 0)} versions old on average`;
  },
};

export const maskedTrajectories: Condition = {
  title: "Most trajectories are masked",
  when: "In two steps in a row, trainer.config.maskTruncated excluded at least 80 % of the trajectories.",
  consequence: "Steps train on the few trajectories that no limit cut.",
  remedies: ["Raise `rollout.limits` and `rollout.maxActionTokens`, or turn `maskTruncated` off."],
  find: (evidence) => {
    const isSo = (record: StepRecord) => (record.masked ?? 0) >= Math.max(1, 0.8 * record.trajectories);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { masked = 0, trajectories } = lastStep(evidence);
    return `${masked} of ${trajectories} trajectories are masked`;
  },
};

export const skippedUpdates: Condition = {
  title: "Updates are skipped",
  when: "In three steps in a row, updates were skipped because a number overflowed in float16.",
  consequence: "The weights change less often than the plan says, or not at all.",
  remedies: [
    "Set `trainer.config.precision` to bfloat16 or float32.",
    "Scale large rewards, and lower the learning rate.",
  ],
  find: (evidence) => {
    if (lastSteps(evidence, 3, ({ skippedUpdates: skipped = 0 }) => skipped > 0) === undefined)
      return undefined;
    return `${lastStep(evidence).skippedUpdates ?? 0} updates of the last step were skipped`;
  },
};

export const overfitting: Condition = {
  title: "The policy overfits its examples",
  when: "Over three steps, the loss on examples fell while the held-out loss rose by at least 5 %.",
  consequence: "The policy memorizes the examples and gets worse on others.",
  remedies: [
    "Use more examples, fewer epochs, or a lower learning rate.",
    "Train a small adapter (`trainer.config.lora`) instead of all weights.",
  ],
  find: ({ steps }) => {
    const measured = steps.filter(({ heldOutLoss }) => heldOutLoss !== undefined);
    const [before, , after] = measured.slice(-3);
    if (before?.heldOutLoss === undefined || after?.heldOutLoss === undefined) return undefined;
    const isFalling = (after.loss ?? 0) < (before.loss ?? 0);
    if (!isFalling || after.heldOutLoss < 1.05 * before.heldOutLoss) return undefined;
    return `the held-out loss rose from ${number(before.heldOutLoss)} to ${number(after.heldOutLoss)}`;
  },
};
