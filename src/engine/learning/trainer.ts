import { defined } from "../../base/records/defined.ts";
import type { PolicyGradientSettings, PreferenceSettings } from "../../contracts/trainer.ts";
import { aggregationWeights } from "./aggregation.ts";
import { checkSequences, type TokenSequence } from "./batch.ts";
import { freshCritic, freshCriticBytes } from "./critic.ts";
import { savingFailedBatch } from "./failed-batch.ts";
import { checkAvailable } from "./memory-room.ts";
import { actionCount, type Objective } from "./objective.ts";
import { trainOnTrajectories } from "./policy-gradient-step.ts";
import { policyObjective } from "./policy-objective.ts";
import { preferenceObjective } from "./preference-objective.ts";
import { type PreferenceMetrics, type PreferencePair, preferenceStep } from "./preference-step.ts";
import type { StepMetrics } from "./step-metrics.ts";
import { supervisedObjective } from "./supervised-objective.ts";
import type { Experienced } from "./token-rewards.ts";
import type { TrainerState } from "./trainer-state.ts";
import {
  createTrainingEngine,
  type OpenTrainingEngine,
  type TrainingEngineOptions,
} from "./training-engine.ts";
import {
  hasCritic,
  objectiveSettings,
  onPolicySettings,
  type TrainingSettings,
} from "./training-settings.ts";
import type { UpdateSettings } from "./update.ts";
import { valueObjective } from "./value-objective.ts";

/** The initial state and the settings of a trainer. */
export interface TrainerOptions extends Omit<TrainingEngineOptions, keyof UpdateSettings> {
  settings: TrainingSettings;
  /** Determines how trajectories are shuffled into minibatches. */
  seed: number;
  /** Folder for the batches of steps that diverge. Default: they are not saved. */
  failures?: string;
}

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
 * An open trainer. It runs one step at a time. Steps throw TRAINING_BATCH_INVALID without changing anything. They throw
 * TRAINING_NOT_FINITE (TRAINING_DIVERGED if the batch was saved) if a loss or gradient is not finite. Then reopen the
 * trainer from its saved state.
 */
export interface PolicyTrainer {
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
  /**
   * The complete state, from which training can continue. Not a copy: the next update changes it. Call `settle` before
   * you save it.
   */
  readonly state: TrainerState;
  /** Brings `state` up to date if a device holds it. */
  settle(): Promise<void>;
  /** Ends the current step at its next pass with TRAINER_CLOSED, like all later ones. Then releases the models. */
  close(): Promise<void>;
}

/** Creates a trainer. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit. */
export function createTrainer({ settings, seed, failures, ...options }: TrainerOptions): PolicyTrainer {
  const { gradientClip, weightDecay, betas } = settings;
  const updating = defined<Pick<TrainerOptions["settings"], "gradientClip" | "weightDecay" | "betas">>({
    gradientClip,
    weightDecay,
    betas,
  });
  const engine = createTrainingEngine({ ...options, ...updating });
  const { state } = engine;
  const objective = policyObjective(objectiveSettings(settings));
  const alone = onPolicySettings(settings);
  const onPolicy = alone && { onPolicyObjective: policyObjective(alone) };
  const preferences = new Map<string, Objective>(); // a graph is compiled for each objective
  const preferred = (by: Partial<PreferenceSettings>) => {
    const key = JSON.stringify([by.beta, by.loss, by.labelSmoothing]);
    const found = preferences.get(key) ?? preferenceObjective(by);
    preferences.set(key, found);
    return { objective: found, loss: by.loss };
  };
  /** Created at its first use. Supervised steps don't use it. */
  let critic: { engine: OpenTrainingEngine; objective: Objective } | undefined;
  if (!hasCritic(settings)) delete state.critic;
  const openCritic = async (trajectories: readonly Experienced[]) => {
    await engine.settle();
    if (!state.critic) {
      checkAvailable(freshCriticBytes(options, state), trajectories, options.available);
      state.critic = freshCritic(options, state);
    }
    const { reference: _, ...model } = options;
    const own = { ...model, ...updating, critic: true, state: state.critic, beside: state };
    critic = { engine: createTrainingEngine(own), objective: valueObjective(settings.valueClip) };
    return critic;
  };
  const saving = <T>(name: string, batch: unknown, work: () => Promise<T>): Promise<T> =>
    savingFailedBatch(failures, { name, batch, settings: { ...settings, seed } }, work);

  return {
    state,
    async supervisedStep(sequences, learningRate) {
      checkSequences(sequences, options.config);
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
    async policyGradientStep(trajectories, { temperature = 1, onProgress } = {}) {
      checkSequences(trajectories, options.config);
      const name = `policy-gradient-${state.policyGradientSteps + 1}`;
      const own = hasCritic(settings) && { critic: critic ?? (await openCritic(trajectories)) };
      const context = { engine, objective, ...onPolicy, settings, seed, temperature, onProgress, ...own };
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
    async settle() {
      await engine.settle();
      await critic?.engine.settle();
    },
    async close() {
      await engine.close();
      await critic?.engine.close();
    },
  };
}
