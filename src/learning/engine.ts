import type { TokenSequence } from "./batch.ts";
import type { Objective, TrainingSample } from "./objective.ts";
import type { ActionScores } from "./score-actions.ts";

/** One optimizer update. */
export interface UpdateRequest {
  objective: Objective;
  /** All samples of the minibatch, whose losses and gradients add up. */
  samples: readonly TrainingSample[];
  /** The objective's scalar inputs. */
  scalars: Readonly<Record<string, number>>;
  learningRate: number;
  /** Logits are divided by this before anything is made of them; default 1. */
  temperature?: number;
}

/** What an update measured, with the weights as they were before it. */
export interface UpdateResult {
  loss: number;
  /** The objective's terms by name. */
  terms: Readonly<Record<string, number>>;
  /** Before clipping. */
  gradientNorm: number;
  /** Of the samples' action tokens, in order. */
  logProbabilities: Float32Array;
}

/** What the steps of an algorithm need of the models, weights and optimizer behind them. */
export interface TrainingEngine {
  /** What the policy, or the reference policy, says of the action tokens of each sequence. Values are the policy's alone. */
  score(
    sequences: readonly TokenSequence[],
    weights: "policy" | "reference",
    temperature?: number,
  ): Promise<ActionScores[]>;
  /**
   * Throws TRAINING_NOT_FINITE, with nothing changed by this update, for a loss or gradient that is not finite, and
   * TRAINING_MEMORY_SHORT before a run that needs more memory than there is.
   */
  update(request: UpdateRequest): Promise<UpdateResult>;
}
