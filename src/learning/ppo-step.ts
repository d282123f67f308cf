import type { ModelConfig } from "../models/model-config.ts";
import type { Tensor } from "../models/safetensors.ts";
import type { Outputs, Session } from "../onnx/session.ts";
import { permutation } from "../random/permutation.ts";
import { batchFeeds, batchSequences, checkSequences } from "./batch.ts";
import {
  checkTrajectories,
  type Experience,
  gatherExperience,
  joined,
  largestGap,
  type ScoredTrajectory,
} from "./experience.ts";
import type { GaeSettings } from "./gae.ts";
import type { PpoLossSettings } from "./ppo-loss.ts";
import { type WarmupSchedule, warmupThenConstant } from "./schedule.ts";
import { scoreActions } from "./score-actions.ts";
import { parametersOf, type TrainerState } from "./trainer-state.ts";
import { applyUpdate, type UpdateSettings } from "./update.ts";

/** All numbers of PPO. Warm-up counts policy-gradient steps. */
export interface PpoHyperparameters extends PpoLossSettings, GaeSettings, UpdateSettings, WarmupSchedule {
  /** Passes over a step's trajectories. */
  epochs: number;
  /** Trajectories of one update; the last minibatch of an epoch may be smaller. */
  minibatchSize: number;
}

/** What a policy-gradient step measured: means over its updates, but for the last three. */
export interface PpoMetrics {
  policyLoss: number;
  valueLoss: number;
  /** To the reference policy (nats a token, k3). */
  kl: number;
  /** From the policy that sampled (nats a token, k3). */
  approximateKl: number;
  /** Nats a token. */
  entropy: number;
  clipFraction: number;
  /** Before clipping. */
  gradientNorm: number;
  learningRate: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Action tokens trained on. */
  tokens: number;
}

/** The models and settings of a step. */
export interface PpoContext {
  config: ModelConfig;
  scoring: Session;
  training: Session;
  /** The weights that the KL term refers to. */
  reference: ReadonlyMap<string, Tensor>;
  hyperparameters: PpoHyperparameters;
  seed: number;
}

type Terms = Omit<PpoMetrics, "learningRate" | "logprobGap" | "tokens">;

/** Trains a state, in place, on the trajectories of one step. */
export async function ppoStep(
  context: PpoContext,
  state: TrainerState,
  trajectories: readonly ScoredTrajectory[],
): Promise<PpoMetrics> {
  const { hyperparameters, seed } = context;
  checkSequences(trajectories, context.config);
  checkTrajectories(trajectories);
  const acting = trajectories.filter(({ mask }) => mask.includes(1));
  const { experience, logprobGap } = await assess(context, state, acting);
  const step = state.policyGradientSteps;
  const learningRate = warmupThenConstant(hyperparameters, step);
  const updates: Terms[] = [];
  for (let epoch = 0; epoch < hyperparameters.epochs; epoch++) {
    const order = permutation(experience.length, seed, `minibatches/${step}/${epoch}`);
    for (let start = 0; start < order.length; start += hyperparameters.minibatchSize) {
      const minibatch = order.slice(start, start + hyperparameters.minibatchSize);
      updates.push(
        await update(
          context,
          state,
          minibatch.map((index) => experience[index]!),
          learningRate,
        ),
      );
    }
  }
  state.policyGradientSteps = step + 1;
  const tokens = experience.reduce((total, { returns }) => total + returns.length, 0);
  return { ...means(updates), learningRate, logprobGap, tokens };
}

/** Values, log-probabilities and advantages under the weights that the step begins with. */
async function assess(
  { config, scoring, reference, hyperparameters }: PpoContext,
  state: TrainerState,
  trajectories: readonly ScoredTrajectory[],
): Promise<{ experience: Experience[]; logprobGap: number }> {
  const score = (parameters: ReadonlyMap<string, Tensor>) =>
    scoreActions(scoring, config, parameters, trajectories, hyperparameters.minibatchSize);
  const now = await score(parametersOf(state));
  const before = await score(new Map([...state.valueHead, ...reference]));
  const scores = now.map((actions, index) => ({
    ...actions,
    referenceLogProbabilities: before[index]!.logProbabilities,
  }));
  return {
    experience: gatherExperience(trajectories, scores, hyperparameters),
    logprobGap: largestGap(trajectories, scores),
  };
}

async function update(
  { config, training, hyperparameters }: PpoContext,
  state: TrainerState,
  minibatch: readonly Experience[],
  learningRate: number,
): Promise<Terms> {
  const parameters = parametersOf(state);
  const outputs = await training.run({
    ...Object.fromEntries(parameters),
    ...batchFeeds(
      batchSequences(
        minibatch.map(({ sequence }) => sequence),
        config,
      ),
    ),
    ...targetFeeds(minibatch),
  });
  const gradientNorm = applyUpdate(state, outputs, parameters.keys(), { ...hyperparameters, learningRate });
  return { ...termsOf(outputs), gradientNorm };
}

function targetFeeds(minibatch: readonly Experience[]) {
  const feed = (of: (experience: Experience) => Float32Array) => {
    const data = joined(minibatch.map(of));
    return { shape: [data.length], data };
  };
  return {
    oldLogProbabilities: feed((experience) => experience.oldLogProbabilities),
    referenceLogProbabilities: feed((experience) => experience.referenceLogProbabilities),
    oldValues: feed((experience) => experience.oldValues),
    advantages: feed((experience) => experience.advantages),
    returns: feed((experience) => experience.returns),
  };
}

function termsOf(outputs: Outputs): Omit<Terms, "gradientNorm"> {
  const term = (name: keyof Terms) => outputs.floats(name)[0]!;
  return {
    policyLoss: term("policyLoss"),
    valueLoss: term("valueLoss"),
    kl: term("kl"),
    approximateKl: term("approximateKl"),
    entropy: term("entropy"),
    clipFraction: term("clipFraction"),
  };
}

function means(updates: readonly Terms[]): Terms {
  const mean = (of: (terms: Terms) => number) =>
    updates.reduce((sum, terms) => sum + of(terms), 0) / updates.length;
  return {
    policyLoss: mean((terms) => terms.policyLoss),
    valueLoss: mean((terms) => terms.valueLoss),
    kl: mean((terms) => terms.kl),
    approximateKl: mean((terms) => terms.approximateKl),
    entropy: mean((terms) => terms.entropy),
    clipFraction: mean((terms) => terms.clipFraction),
    gradientNorm: mean((terms) => terms.gradientNorm),
  };
}
