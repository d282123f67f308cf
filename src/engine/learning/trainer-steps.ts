import { defined } from "../../base/records/defined.ts";
import type { PolicyGradientSettings, PortionSharing, PreferenceSettings } from "../../contracts/trainer.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import { aggregationWeights } from "./aggregation.ts";
import { checkSequences, type TokenSequence } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { savingFailedBatch } from "./failed-batch.ts";
import { actionCount, type Objective } from "./objective.ts";
import { type StepContext, type StepState, trainOnTrajectories } from "./policy-gradient-step.ts";
import { policyObjective } from "./policy-objective.ts";
import { preferenceObjective } from "./preference-objective.ts";
import { type PreferenceMetrics, type PreferencePair, preferenceStep } from "./preference-step.ts";
import type { StepMetrics } from "./step-metrics.ts";
import { supervisedObjective } from "./supervised-objective.ts";
import type { Experienced } from "./token-rewards.ts";
import { objectiveSettings, onPolicySettings, type TrainingSettings } from "./training-settings.ts";

/** The measurements of a supervised step. */
export interface SupervisedStepMetrics {
  /** Mean cross entropy of the marked tokens, in nats. */
  loss: number;
  /** Before clipping. */
  gradientNorm: number;
  /** In float16: an overflow occurred, so nothing was updated. */
  skipped: boolean;
  learningRate: number;
  /** The number of tokens that carried loss. */
  tokens: number;
}

/**
 * The steps of a trainer, one at a time. Steps throw TRAINING_BATCH_INVALID without changing anything. They throw
 * TRAINING_NOT_FINITE (TRAINING_DIVERGED if the batch was saved) if a loss or gradient is not finite. Then reopen the
 * trainer from its saved state.
 */
export interface TrainerSteps {
  /** Makes one update on the marked tokens. */
  supervisedStep(sequences: readonly TokenSequence[], learningRate: number): Promise<SupervisedStepMetrics>;
  /**
   * Makes one step of the algorithm on finished trajectories, sampled at a temperature (default 1). It trains the
   * policy at that temperature.
   */
  policyGradientStep(
    trajectories: readonly Experienced[],
    settings?: Partial<PolicyGradientSettings>,
  ): Promise<StepMetrics>;
  /** Makes one update by direct preference optimization with the trainer's reference. */
  preferenceStep(
    pairs: readonly PreferencePair[],
    learningRate: number,
    settings?: Partial<PreferenceSettings>,
  ): Promise<PreferenceMetrics>;
  /** Returns the sum of the log-probabilities of each sequence's marked tokens at temperature 1, in nats. */
  score(sequences: readonly TokenSequence[], by: "policy" | "reference"): Promise<number[]>;
}

/** The parts of a trainer's steps. */
export interface TrainerStepsOptions {
  engine: TrainingEngine;
  /** Returns the engine whose computations are shared with other trainers. Default: they are not shared. */
  shared?: (sharing: PortionSharing) => TrainingEngine;
  /** The model's configuration, by whose vocabulary and context sequences are checked. */
  config: ModelConfig;
  /** Counted by the steps. The engine counts the updates. */
  state: StepState & { updates: number };
  settings: TrainingSettings;
  /** Determines how trajectories are shuffled into minibatches. */
  seed: number;
  /** Folder for the batches of steps that diverge. Default: they are not saved. */
  failures?: string;
  /** Returns the critic that is a separate model. Default: none. */
  openCritic?: (
    trajectories: readonly Experienced[],
    sharing: PortionSharing | undefined,
  ) => Promise<NonNullable<StepContext["critic"]>>;
}

/** Returns the steps of a trainer on an engine. */
export function trainerSteps(options: TrainerStepsOptions): TrainerSteps {
  const { engine, shared, config, state, settings, seed, failures, openCritic } = options;
  const objective = policyObjective(objectiveSettings(settings));
  const alone = onPolicySettings(settings);
  const onPolicyObjective = alone && policyObjective(alone);
  const preferences = new Map<string, Objective>(); // a graph is compiled for each objective
  const preferred = (by: Partial<PreferenceSettings>) => {
    const key = JSON.stringify([by.beta, by.loss, by.labelSmoothing]);
    const found = preferences.get(key) ?? preferenceObjective(by);
    preferences.set(key, found);
    return { objective: found, loss: by.loss };
  };
  const saving = <T>(name: string, batch: unknown, work: () => Promise<T>): Promise<T> =>
    savingFailedBatch(failures, { name, batch, settings: { ...settings, seed } }, work);

  return {
    async supervisedStep(sequences, learningRate) {
      checkSequences(sequences, config);
      const marked = sequences.filter(({ mask }) => mask.includes(1));
      const counts = marked.map(actionCount);
      const weights = aggregationWeights(counts, "token-mean");
      const samples = marked.map((sequence, index) => ({
        sequences: [sequence],
        columns: { weights: weights[index]! },
      }));
      const request = { objective: supervisedObjective, samples, scalars: {}, learningRate };
      const name = `supervised-${state.updates + 1}`;
      const { loss, gradientNorm, skipped } = await saving(name, sequences, () => engine.update(request));
      const tokens = counts.reduce((sum, count) => sum + count, 0);
      return { loss, gradientNorm, skipped, learningRate, tokens };
    },
    async policyGradientStep(trajectories, { temperature = 1, onProgress, sharing } = {}) {
      checkSequences(trajectories, config);
      const name = `policy-gradient-${state.policyGradientSteps + 1}`;
      const context = defined<StepContext>({
        engine: (sharing && shared?.(sharing)) ?? engine,
        objective,
        onPolicyObjective,
        settings,
        seed,
        temperature,
        onProgress,
        critic: await openCritic?.(trajectories, sharing),
      });
      return saving(name, trajectories, () => trainOnTrajectories(context, state, trajectories));
    },
    preferenceStep: (pairs, learningRate, by = {}) =>
      saving(`preference-${state.updates + 1}`, pairs, () =>
        preferenceStep(engine, preferred(by), pairs, learningRate),
      ),
    async score(sequences, by) {
      const scores = await engine.score(sequences, by);
      return scores.map(({ logProbabilities }) => logProbabilities.reduce((sum, one) => sum + one, 0));
    },
  };
}
