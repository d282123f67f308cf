import { permutation } from "../../base/random/permutation.ts";
import { defined } from "../../base/records/defined.ts";
import { aggregationWeights } from "./aggregation.ts";
import { comparesTurns } from "./algorithm.ts";
import type { TrainingEngine } from "./engine.ts";
import { checkTrajectories, type Experience, gatherExperience, type ModelScores } from "./experience.ts";
import { byGroup, hasRewardVariance, rewardsOfTurns } from "./group-advantages.ts";
import { nextKlCoefficient } from "./kl-controller.ts";
import type { LearningRates } from "./learning-rates.ts";
import { joined, type Objective, type TrainingSample } from "./objective.ts";
import {
  type RunningMoments,
  rewardScale,
  withNormalizedReward,
  withNumbers,
} from "./reward-normalization.ts";
import { learningRateAt } from "./schedule.ts";
import type { ActionScores } from "./score-actions.ts";
import { gapOf, metricsOf, type StepMetrics, type Update, valueMetrics } from "./step-metrics.ts";
import { type Experienced, sequencesOf, tokenRewards, turnsOf } from "./token-rewards.ts";
import type { TrainingSettings } from "./training-settings.ts";

/** The fixed parts and settings of a step. */
export interface StepContext {
  engine: TrainingEngine;
  /** The objective of `settings`. */
  objective: Objective;
  /** Replaces `objective` in steps of one update. The policy then doesn't have to score the trajectories first. */
  onPolicyObjective?: Objective;
  /** The engine and objective of a critic that is a separate model. */
  critic?: { engine: TrainingEngine; objective: Objective };
  settings: TrainingSettings;
  /** Determines how trajectories are shuffled into minibatches. */
  seed: number;
  /** The temperature at which the trajectories were sampled. */
  temperature: number;
  /** Called with the step's progress in a few words. */
  onProgress?: ((said: string) => void) | undefined;
}

/** The state that a step changes in addition to weights and optimizer. */
export interface StepState {
  /** The number of policy-gradient steps so far. */
  policyGradientSteps: number;
  /** The adapted coefficient, if it has a target. Default: that of the settings. */
  klCoefficient?: number;
  /** Of all rewards so far, if they are normalized. */
  rewards?: RunningMoments;
}

/**
 * Trains on the trajectories of one step, and counts it in `state`. Throws TRAINING_BATCH_INVALID, TRAINING_NOT_FINITE.
 */
export async function trainOnTrajectories(
  { onPolicyObjective, ...given }: StepContext,
  state: StepState,
  trajectories: readonly Experienced[],
): Promise<StepMetrics> {
  const { settings, seed } = given;
  checkTrajectories(trajectories);
  const isOneUpdate = settings.epochs === 1 && trajectories.length <= settings.minibatchSize;
  const context = isOneUpdate && onPolicyObjective ? { ...given, objective: onPolicyObjective } : given;
  const acting = trajectories.filter(({ mask }) => mask.includes(1));
  const used = settings.leaveOutUniformGroups ? withVariance(acting, settings) : acting;
  const klCoefficient = state.klCoefficient ?? settings.klCoefficient;
  const isTrainedOn = ({ truncated }: Experienced) => settings.maskTruncated !== true || truncated !== true;
  // If the update does not fit into memory, there is no need for scores, whose memory may be short too.
  await context.engine.check(context.objective, used.filter(isTrainedOn).map(sequencesOf));
  const scores = await scoresBefore(context, used);
  const moments = withNumbers(
    state.rewards,
    acting.map(({ reward }) => reward),
  );
  const rewarded = used.map((trajectory) => withNormalizedReward(trajectory, settings, moments));
  const experience = gatherExperience(rewarded, scores, settings, klCoefficient).filter(({ sequence }) =>
    isTrainedOn(sequence),
  );
  const step = state.policyGradientSteps;
  const rates = ratesOf(settings, step);
  const updates: Update[] = [];
  const all = [...minibatches(experience.length, settings, seed, step)];
  for (const members of all) {
    const minibatch = members.map((index) => experience[index]!);
    const told = shareTeller(context, `update ${updates.length + 1} of ${all.length}`);
    const made = await update(context, minibatch, klCoefficient, rates, told);
    updates.push({ trajectories: minibatch.map(({ sequence }) => sequence), ...made });
    const { result } = made;
    if (!result.skipped && (result.terms.approximateKl ?? 0) > (settings.klStop ?? Number.POSITIVE_INFINITY))
      break;
  }
  const made = updates.filter(({ result }) => !result.skipped);
  const metrics = metricsOf(
    acting,
    used,
    scores,
    made.map(({ result }) => result),
  );
  const lossScale = updates.at(-1)?.result.lossScale;
  state.policyGradientSteps = step + 1;
  const isNormalized = (settings.rewardNormalization ?? "none") !== "none";
  if (isNormalized) state.rewards = moments;
  if (settings.klTarget !== undefined && metrics.kl !== undefined) {
    const target = { target: settings.klTarget, horizon: settings.klHorizon };
    state.klCoefficient = nextKlCoefficient(klCoefficient, metrics.kl, used.length, target);
  }
  return defined({
    ...metrics,
    ...valueMetrics(updates),
    ...rates,
    ...gapOf(used, scores, made[0]),
    updates: settings.klStop !== undefined ? updates.length : undefined,
    masked: settings.maskTruncated === true ? used.length - experience.length : undefined,
    rewardScale: isNormalized ? rewardScale(moments) : undefined,
    lossScale,
    skippedUpdates: lossScale !== undefined ? updates.length - made.length : undefined,
    tokens: experience.reduce((total, { actions }) => total + actions, 0),
  });
}

/**
 * Returns the learning rates of a step, which counts from 0. The value head may have its own, and learn alone at first.
 */
function ratesOf(settings: TrainingSettings, step: number): LearningRates {
  const { learningRate, valueLearningRate, valueWarmupSteps = 0 } = settings;
  const isWarmingUp = step < valueWarmupSteps;
  const rate = learningRateAt(settings, Math.max(0, step - valueWarmupSteps));
  if (valueLearningRate === undefined && valueWarmupSteps === 0) return { learningRate: rate };
  return {
    learningRate: isWarmingUp ? 0 : rate,
    valueLearningRate: valueLearningRate ?? (isWarmingUp ? learningRate : rate),
  };
}

/** Yields the trajectories of each update of a step, epoch by epoch. */
function* minibatches(
  count: number,
  { epochs, minibatchSize }: TrainingSettings,
  ...[seed, step]: [seed: number, step: number]
): Generator<readonly number[]> {
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = permutation(count, seed, `minibatches/${step}/${epoch}`);
    for (let start = 0; start < count; start += minibatchSize)
      yield order.slice(start, start + minibatchSize);
  }
}

function withVariance(trajectories: readonly Experienced[], settings: TrainingSettings): Experienced[] {
  const groups = trajectories.map(({ group }, index) => group ?? `trajectory ${index}`);
  return [...byGroup(trajectories, groups).values()]
    .filter((members) => hasRewardVariance(members.flatMap((member) => comparedRewards(member, settings))))
    .flat();
}

/** Returns a trajectory's rewards that are compared within its group. */
function comparedRewards(trajectory: Experienced, settings: TrainingSettings): number[] {
  if (!comparesTurns(settings)) return [trajectory.reward];
  const turns = turnsOf(trajectory);
  return rewardsOfTurns({ rewards: tokenRewards(trajectory, turns), turns });
}

/** Whose scores of its trajectories a step needs before its first update. */
export function neededScores(
  { inputs, wants }: Objective,
  { importanceCorrection, klIn, klCoefficient }: TrainingSettings,
): { policy: boolean; reference: boolean } {
  const corrects = importanceCorrection !== "none" && "oldLogProbabilities" in inputs;
  return {
    policy: wants.values || corrects,
    reference: "referenceLogProbabilities" in inputs || (klIn === "reward" && klCoefficient > 0),
  };
}

/** Scores a step's trajectories under its initial weights and under the reference's, as far as the step needs it. */
async function scoresBefore(
  context: StepContext,
  trajectories: readonly Experienced[],
): Promise<ModelScores[]> {
  const { objective, critic, settings } = context;
  const { policy: wantsPolicy, reference: wantsReference } = neededScores(objective, settings);
  if (trajectories.length === 0) return [];
  const values =
    critic && (await scored({ ...context, engine: critic.engine }, trajectories, "policy", "critic"));
  const policy = wantsPolicy ? await scored(context, trajectories, "policy") : [];
  const reference = wantsReference ? await scored(context, trajectories, "reference") : [];
  return trajectories.map((_, index) =>
    defined({
      ...policy[index],
      ...(values && { values: values[index]!.values }),
      referenceLogProbabilities: wantsReference ? reference[index]!.logProbabilities : undefined,
    }),
  );
}

/** Returns the scores of each trajectory, row after row. */
async function scored(
  context: StepContext,
  trajectories: readonly Experienced[],
  weights: "policy" | "reference",
  by: string = weights,
): Promise<ActionScores[]> {
  const rows = trajectories.map(sequencesOf);
  const told = shareTeller(context, `scores by the ${by}`);
  const scores = await context.engine.score(rows.flat(), weights, context.temperature, told);
  let end = 0;
  return rows.map(({ length }) => {
    const own = scores.slice(end, end + length);
    end += length;
    const join = (of: (score: ActionScores) => Float32Array) => joined(own.map(of));
    return {
      logProbabilities: join(({ logProbabilities }) => logProbabilities),
      values: join(({ values }) => values),
    };
  });
}

/** Returns a function that reports the progress of a part of a step. */
function shareTeller({ onProgress }: StepContext, part: string): (share: number) => void {
  const tell = (share: number) => onProgress?.(`${part}, ${Math.round(100 * share)} % done`);
  tell(0);
  return tell;
}

async function update(
  { engine, objective, critic, settings, temperature }: StepContext,
  minibatch: readonly Experience[],
  ...[klCoefficient, rates, onShare]: [
    klCoefficient: number,
    rates: LearningRates,
    onShare: (share: number) => void,
  ]
): Promise<Omit<Update, "trajectories">> {
  const counts = minibatch.map(({ actions }) => actions);
  const weights = aggregationWeights(counts, settings.aggregation, settings.lengthConstant);
  const shares = aggregationWeights(counts, "token-mean");
  const samples = minibatch.map(({ sequence, columns, importance }, index): TrainingSample => {
    const own = weights[index]!;
    const policyWeights = own.map((weight, at) => weight * importance[at]!);
    return {
      sequences: sequencesOf(sequence),
      columns: { ...columns, weights: own, policyWeights, shares: shares[index]! },
    };
  });
  const result = await engine.update({
    objective,
    samples,
    scalars: { klCoefficient },
    ...rates,
    temperature,
    onShare,
  });
  if (critic === undefined) return { result };
  const learningRate = rates.valueLearningRate ?? rates.learningRate;
  return {
    result,
    critic: await critic.engine.update({ objective: critic.objective, samples, scalars: {}, learningRate }),
  };
}
