import { permutation } from "../random/permutation.ts";
import { aggregationWeights } from "./aggregation.ts";
import { comparesTurns } from "./algorithm.ts";
import type { TrainingEngine, UpdateResult } from "./engine.ts";
import {
  checkTrajectories,
  type Experience,
  gatherExperience,
  recordedLogProbabilities,
  type TrajectoryScores,
} from "./experience.ts";
import { byGroup, hasRewardVariance, rewardsOfTurns } from "./group-advantages.ts";
import { klEstimate } from "./kl.ts";
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
import { type ScoredTrajectory, sequencesOf, tokenRewards, turnsOf } from "./token-rewards.ts";
import type { TrainingSettings } from "./training-settings.ts";

/** What a policy-gradient step measured: means over the updates that it made, but for the last five. */
export interface StepMetrics {
  policyLoss: number;
  /** With a value head alone. */
  valueLoss?: number;
  /** To the reference policy (nats a token, k3); with a KL term alone. */
  kl?: number;
  /** From the policy that sampled (nats a token, k3). */
  approximateKl: number;
  /** Nats a token: of the distribution if the loss has an entropy bonus, else estimated by −log p of what was sampled. */
  entropy: number;
  clipFraction: number;
  /** Before clipping. */
  gradientNorm: number;
  /** The same of a critic that is a model of its own; absent without one. */
  valueGradientNorm?: number;
  learningRate: number;
  /** Of the value head; with one of its own, or a warm-up of its own, alone. */
  valueLearningRate?: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Their mean difference. */
  logprobGapMean: number;
  /** From the policy as it was recorded to the recomputed one, nats a token (k3 estimator). */
  samplerKl: number;
  /** Action tokens trained on. */
  tokens: number;
  /** With `klStop` alone: the updates that were made, skipped ones too. */
  updates?: number;
  /** With `maskTruncated` alone: trajectories that trained nothing as a limit cut them. */
  masked?: number;
  /** With `rewardNormalization` alone: what rewards were divided by. */
  rewardScale?: number;
  /** In float16 alone: updates that were skipped as something in them overflowed, and the loss scale of the last one. */
  skippedUpdates?: number;
  lossScale?: number;
}

/** What a step goes by. */
export interface StepContext {
  engine: TrainingEngine;
  /** Of `settings`. */
  objective: Objective;
  /** That of a critic that is a model of its own, with its objective. */
  critic?: { engine: TrainingEngine; objective: Objective };
  settings: TrainingSettings;
  /** Decides how trajectories are shuffled into minibatches. */
  seed: number;
  /** That the trajectories were sampled at. */
  temperature: number;
}

/** What a step changes beside weights and optimizer. */
export interface StepState {
  /** Policy-gradient steps so far. */
  policyGradientSteps: number;
  /** Where it is steered towards a target; default: that of the settings. */
  klCoefficient?: number;
  /** Of all rewards so far, where they are normalized. */
  rewards?: RunningMoments;
}

/** Trains on the trajectories of one step, and counts it in `state`. Throws TRAINING_BATCH_INVALID, TRAINING_NOT_FINITE. */
export async function policyGradientStep(
  context: StepContext,
  state: StepState,
  trajectories: readonly ScoredTrajectory[],
): Promise<StepMetrics> {
  const { settings, seed } = context;
  checkTrajectories(trajectories);
  const acting = trajectories.filter(({ mask }) => mask.includes(1));
  const used = settings.leaveOutUniformGroups ? withVariance(acting, settings) : acting;
  const klCoefficient = state.klCoefficient ?? settings.klCoefficient;
  const scores = await scoresBefore(context, used);
  const moments = withNumbers(
    state.rewards,
    acting.map(({ reward }) => reward),
  );
  const rewarded = used.map((trajectory) => withNormalizedReward(trajectory, settings, moments));
  const experience = gatherExperience(rewarded, scores, settings, klCoefficient).filter(
    ({ sequence }) => settings.maskTruncated !== true || sequence.truncated !== true,
  );
  const step = state.policyGradientSteps;
  const rates = ratesOf(settings, step);
  const updates: Update[] = [];
  for (const members of minibatches(experience.length, settings, seed, step)) {
    const minibatch = members.map((index) => experience[index]!);
    const made = await update(context, minibatch, klCoefficient, rates);
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
  return {
    ...metrics,
    ...valueMetrics(updates),
    ...rates,
    ...gapOf(used, scores, made[0]),
    ...(settings.klStop !== undefined && { updates: updates.length }),
    ...(settings.maskTruncated === true && { masked: used.length - experience.length }),
    ...(isNormalized && { rewardScale: rewardScale(moments) }),
    ...(lossScale !== undefined && { lossScale, skippedUpdates: updates.length - made.length }),
    tokens: experience.reduce((total, { actions }) => total + actions, 0),
  };
}

/** The learning rates of a step, which counts from 0: the value head may have one of its own, and learn alone at first. */
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

/** An update, and what it was made of. */
interface Update {
  trajectories: readonly ScoredTrajectory[];
  result: UpdateResult;
  /** Of a critic that is a model of its own. */
  critic?: UpdateResult;
}

/** Which trajectories each update of a step is made of, epoch by epoch. */
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

function withVariance(
  trajectories: readonly ScoredTrajectory[],
  settings: TrainingSettings,
): ScoredTrajectory[] {
  const groups = trajectories.map(({ group }, index) => group ?? `trajectory ${index}`);
  return [...byGroup(trajectories, groups).values()]
    .filter((members) => hasRewardVariance(members.flatMap((member) => comparedRewards(member, settings))))
    .flat();
}

/** The rewards that a trajectory brings into the comparison within its group. */
function comparedRewards(trajectory: ScoredTrajectory, settings: TrainingSettings): number[] {
  if (!comparesTurns(settings)) return [trajectory.reward];
  const turns = turnsOf(trajectory);
  return rewardsOfTurns({ rewards: tokenRewards(trajectory, turns), turns });
}

/** What the step wants to know of its trajectories under the weights that it begins with, and under the reference's. */
async function scoresBefore(
  { engine, objective, critic, settings, temperature }: StepContext,
  trajectories: readonly ScoredTrajectory[],
): Promise<TrajectoryScores[]> {
  const wantsPolicy = objective.wants.values || settings.importanceCorrection !== "none";
  const wantsReference =
    "referenceLogProbabilities" in objective.inputs ||
    (settings.klIn === "reward" && settings.klCoefficient > 0);
  if (trajectories.length === 0) return [];
  const values = critic && (await scored(critic.engine, trajectories, "policy", temperature));
  const policy = wantsPolicy ? await scored(engine, trajectories, "policy", temperature) : [];
  const reference = wantsReference ? await scored(engine, trajectories, "reference", temperature) : [];
  return trajectories.map((_, index) => ({
    ...policy[index],
    ...(values && { values: values[index]!.values }),
    ...(wantsReference && { referenceLogProbabilities: reference[index]!.logProbabilities }),
  }));
}

/** The scores of each trajectory, those of its rows one after the other. */
async function scored(
  engine: TrainingEngine,
  trajectories: readonly ScoredTrajectory[],
  ...[weights, temperature]: [weights: "policy" | "reference", temperature: number]
): Promise<ActionScores[]> {
  const rows = trajectories.map(sequencesOf);
  const scores = await engine.score(rows.flat(), weights, temperature);
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

async function update(
  { engine, objective, critic, settings, temperature }: StepContext,
  minibatch: readonly Experience[],
  klCoefficient: number,
  rates: LearningRates,
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
  });
  if (critic === undefined) return { result };
  const learningRate = rates.valueLearningRate ?? rates.learningRate;
  return {
    result,
    critic: await critic.engine.update({ objective: critic.objective, samples, scalars: {}, learningRate }),
  };
}

type Measured = Omit<
  StepMetrics,
  | keyof LearningRates
  | keyof LogprobGap
  | "tokens"
  | "updates"
  | "masked"
  | "rewardScale"
  | "valueGradientNorm"
  | "skippedUpdates"
  | "lossScale"
>;

function metricsOf(
  sampled: readonly ScoredTrajectory[],
  used: readonly ScoredTrajectory[],
  scores: readonly TrajectoryScores[],
  updates: readonly UpdateResult[],
): Measured {
  const mean = (of: (update: UpdateResult) => number | undefined): number =>
    updates.reduce((sum, update) => sum + (of(update) ?? 0), 0) / Math.max(1, updates.length);
  const term = (name: string) => mean(({ terms }) => terms[name]);
  const has = (name: string) => updates.some(({ terms }) => name in terms);
  const kl = has("kl") ? term("kl") : klBefore(joined(used.map(recordedLogProbabilities)), scores);
  const recorded = joined(sampled.map(recordedLogProbabilities));
  return {
    policyLoss: term("policyLoss"),
    ...(has("valueLoss") && { valueLoss: term("valueLoss") }),
    ...(kl !== undefined && { kl }),
    approximateKl: term("approximateKl"),
    entropy: has("entropy") ? term("entropy") : -sum(recorded) / recorded.length,
    clipFraction: term("clipFraction"),
    gradientNorm: mean(({ gradientNorm }) => gradientNorm),
  };
}

/** Means over the updates that a critic of its own made. */
function valueMetrics(updates: readonly Update[]): Pick<StepMetrics, "valueLoss" | "valueGradientNorm"> {
  const made = updates.flatMap(({ critic }) => (critic && !critic.skipped ? [critic] : []));
  if (made.length === 0) return {};
  const mean = (of: (update: UpdateResult) => number) =>
    made.reduce((sum, update) => sum + of(update), 0) / made.length;
  return {
    valueLoss: mean(({ loss }) => loss),
    valueGradientNorm: mean(({ gradientNorm }) => gradientNorm),
  };
}

/** The KL divergence of what was sampled to the reference, where the loss doesn't measure it. */
function klBefore(recorded: Float32Array, scores: readonly TrajectoryScores[]): number | undefined {
  const references = scores.flatMap(({ referenceLogProbabilities }) => referenceLogProbabilities ?? []);
  if (references.length === 0) return undefined;
  const reference = joined(references);
  return sum(recorded.map((value, at) => klEstimate(reference[at]! - value, "k3"))) / recorded.length;
}

/** How far what the sampler said of its tokens is from what the trainer says of them. */
interface LogprobGap {
  logprobGap: number;
  logprobGapMean: number;
  samplerKl: number;
}

/** Over all trajectories if they were scored, else over those of the first update that was made. */
function gapOf(
  trajectories: readonly ScoredTrajectory[],
  scores: readonly TrajectoryScores[],
  first: Update | undefined,
): LogprobGap {
  const scored = scores.flatMap(({ logProbabilities }) => logProbabilities ?? []);
  const complete = scored.length === trajectories.length;
  const compared = complete ? trajectories : (first?.trajectories ?? []);
  const recomputed = complete ? joined(scored) : (first?.result.logProbabilities ?? new Float32Array());
  const recorded = joined(compared.map(recordedLogProbabilities));
  const gaps = recorded.map((value, at) => Math.abs(value - recomputed[at]!));
  const count = Math.max(1, recorded.length);
  return {
    logprobGap: gaps.reduce((most, gap) => Math.max(most, gap), 0),
    logprobGapMean: sum(gaps) / count,
    samplerKl: sum(recorded.map((value, at) => klEstimate(recomputed[at]! - value, "k3"))) / count,
  };
}

function sum(numbers: Float32Array): number {
  return numbers.reduce((total, value) => total + value, 0);
}
