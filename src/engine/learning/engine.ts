import type { TokenSequence } from "./batch.ts";
import type { LearningRates } from "./learning-rates.ts";
import type { Objective, TrainingSample } from "./objective.ts";
import type { ActionScores } from "./score-actions.ts";
import type { UpdateOutcome } from "./update.ts";

/** One optimizer update. */
export interface UpdateRequest extends LearningRates {
  objective: Objective;
  /** All samples of the minibatch. Their losses and gradients are added up. */
  samples: readonly TrainingSample[];
  /** The objective's scalar inputs. */
  scalars: Readonly<Record<string, number>>;
  /** Divides the logits before any other use. Default: 1. */
  temperature?: number;
  /** Called after each pass with the share computed so far: of the samples, and of the images of a trained vision part. */
  onShare?: (share: number) => void;
}

/** The measurements of an update, with the weights before it. Those of a skipped update may not be finite. */
export interface UpdateResult extends UpdateOutcome {
  loss: number;
  /** The objective's terms by name. */
  terms: Readonly<Record<string, number>>;
  /** Of the samples' action tokens, in order. */
  logProbabilities: Float32Array;
  /** In float16: the loss scale of the update. */
  lossScale?: number;
}

/** The models, weights and optimizer behind the steps of an algorithm. */
export interface TrainingEngine {
  /**
   * Throws TRAINING_MEMORY_SHORT if no update with the longest of these samples fits into the memory available now.
   * Computes nothing.
   */
  check(objective: Objective, samples: readonly (readonly TokenSequence[])[]): Promise<void>;
  /**
   * Returns the scores of each sequence's action tokens under the policy or the reference policy. Only the policy has
   * values. Calls `onShare` after each pass with the share of sequences scored so far. Throws TRAINING_MEMORY_SHORT if
   * the reference's weights must be read and don't fit.
   */
  score(
    sequences: readonly TokenSequence[],
    weights: "policy" | "reference",
    temperature?: number,
    onShare?: (share: number) => void,
  ): Promise<ActionScores[]>;
  /**
   * Updates the weights once. Throws TRAINING_NOT_FINITE for a loss or gradient that is not finite, without changing
   * anything. In float16 it throws only if the loss scale can't be halved any more, and skips the update otherwise.
   * Throws TRAINING_MEMORY_SHORT before a pass that needs more memory than available.
   */
  update(request: UpdateRequest): Promise<UpdateResult>;
}
