import type { ModelConfig } from "../models/model-config.ts";
import { checkModelWeights } from "../models/model-weights.ts";
import type { Tensor } from "../models/safetensors.ts";
import { createSession, type Session } from "../onnx/session.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "./batch.ts";
import type { ScoredTrajectory } from "./experience.ts";
import { type PpoHyperparameters, type PpoMetrics, ppoStep } from "./ppo-step.ts";
import { checkTrainerState, copyTrainerState, parametersOf, type TrainerState } from "./trainer-state.ts";
import { ppoModel, scoringModel, supervisedModel } from "./training-graphs.ts";
import { applyUpdate } from "./update.ts";

/** What a trainer starts from. */
export interface TrainerOptions {
  config: ModelConfig;
  /** Fresh (`freshTrainerState`) or saved; copied. */
  state: TrainerState;
  /** The weights that the KL term refers to; default: those of `state`. */
  reference?: ReadonlyMap<string, Tensor>;
  hyperparameters: PpoHyperparameters;
  /** Decides how trajectories are shuffled into minibatches. */
  seed: number;
  /** Threads an operator may use; default 2. */
  threads?: number;
}

/** What a supervised step measured. */
export interface SupervisedStepMetrics {
  /** Mean cross entropy of the marked tokens, in nats. */
  loss: number;
  /** Before clipping. */
  gradientNorm: number;
  learningRate: number;
  /** Tokens that carried loss. */
  tokens: number;
}

/** A trainer at work. One step at a time; a step that fails changes nothing. */
export interface PpoTrainer {
  /** One AdamW update on the marked tokens. Throws TRAINING_BATCH_INVALID or TRAINING_NOT_FINITE. */
  supervisedStep(sequences: readonly TokenSequence[], learningRate: number): Promise<SupervisedStepMetrics>;
  /** One PPO step on finished trajectories. Throws TRAINING_BATCH_INVALID or TRAINING_NOT_FINITE. */
  ppoStep(trajectories: readonly ScoredTrajectory[]): Promise<PpoMetrics>;
  /** A copy of all that is needed to go on from here. */
  state(): TrainerState;
  close(): Promise<void>;
}

/** Makes a trainer. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit. */
export function createTrainer(options: TrainerOptions): PpoTrainer {
  const { config, hyperparameters, seed } = options;
  checkTrainerState(config, options.state);
  let state = copyTrainerState(options.state);
  const reference = options.reference ?? copyTrainerState(state).weights;
  checkModelWeights(config, reference);

  const sessions = new Map<string, Promise<Session>>();
  const session = (name: string, model: () => Uint8Array): Promise<Session> => {
    const made = sessions.get(name) ?? createSession(model(), { threads: options.threads ?? 2 });
    sessions.set(name, made);
    return made;
  };

  return {
    async supervisedStep(sequences, learningRate) {
      const batch = batchSequences(sequences, config);
      const training = await session("supervised", () => supervisedModel(config));
      const outputs = await training.run({
        ...Object.fromEntries(parametersOf(state)),
        ...batchFeeds(batch),
      });
      const settings = { ...hyperparameters, learningRate };
      const gradientNorm = applyUpdate(state, outputs, state.weights.keys(), settings);
      return { loss: outputs.floats("loss")[0]!, gradientNorm, learningRate, tokens: batch.actions.length };
    },
    async ppoStep(trajectories) {
      const scoring = await session("scoring", () => scoringModel(config));
      const training = await session("ppo", () => ppoModel(config, hyperparameters));
      const next = copyTrainerState(state);
      const context = { config, scoring, training, reference, hyperparameters, seed };
      const metrics = await ppoStep(context, next, trajectories);
      state = next;
      return metrics;
    },
    state: () => copyTrainerState(state),
    async close() {
      for (const open of sessions.values()) await (await open).close();
      sessions.clear();
    },
  };
}
