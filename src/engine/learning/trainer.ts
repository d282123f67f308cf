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

/** What a trainer starts from, and how it trains. */
export interface TrainerOptions extends Omit<TrainingEngineOptions, keyof UpdateSettings> {
  settings: TrainingSettings;
  /** Decides how trajectories are shuffled into minibatches. */
  seed: number;
  /** Folder for the batches of steps that diverge; default: they are not saved. */
  failures?: string;
}

/** What a supervised step measured. */
export interface SupervisedStepMetrics {
  /** Mean cross entropy of the marked tokens, in nats. */
  loss: number;
  /** Before clipping. */
  gradientNorm: number;
  /** In float16: something overflowed, so nothing was updated. */
  skipped: boolean;
  learningRate: number;
  /** Tokens that carried loss. */
  tokens: number;
}

/**
 * A trainer at work. One step at a time. Steps throw TRAINING_BATCH_INVALID with nothing changed, and TRAINING_NOT_FINITE
 * (TRAINING_DIVERGED if the batch was saved) when a loss or gradient is not finite: then open it again from what was saved.
 */
export interface PolicyTrainer {
  /** One update on the marked tokens. */
  supervisedStep(sequences: readonly TokenSequence[], learningRate: number): Promise<SupervisedStepMetrics>;
  /** One step of the algorithm on finished trajectories, sampled at a temperature (default 1): what is trained is the policy at it. */
  policyGradientStep(
    trajectories: readonly Experienced[],
    settings?: Partial<PolicyGradientSettings>,
  ): Promise<StepMetrics>;
  /** One update by direct preference optimization; the reference is the trainer's. */
  preferenceStep(
    pairs: readonly PreferencePair[],
    learningRate: number,
    settings?: Partial<PreferenceSettings>,
  ): Promise<PreferenceMetrics>;
  /** The sum of the log-probabilities of each sequence's marked tokens, at temperature 1, nats. */
  score(sequences: readonly TokenSequence[], by: "policy" | "reference"): Promise<number[]>;
  /** All that is needed to go on from here; not a copy: the next update changes it. Settle it before you save it. */
  readonly state: TrainerState;
  /** Brings `state` up to date where a device keeps it. */
  settle(): Promise<void>;
  /** Ends the step that is under way, at its next pass, with TRAINER_CLOSED, as all that come later; then frees the models. */
  close(): Promise<void>;
}

/** Makes a trainer. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit. */
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
  /** Made when it is first wanted: supervised steps have none. */
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
