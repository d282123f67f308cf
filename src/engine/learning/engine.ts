import type { TokenSequence } from "./batch.ts";
import type { LearningRates } from "./learning-rates.ts";
import type { Objective, TrainingSample } from "./objective.ts";
import type { ActionScores } from "./score-actions.ts";
import type { UpdateOutcome } from "./update.ts";

/** One optimizer update. */
export interface UpdateRequest extends LearningRates {
  objective: Objective;
  /** All samples of the minibatch, whose losses and gradients add up. */
  samples: readonly TrainingSample[];
  /** The objective's scalar inputs. */
  scalars: Readonly<Record<string, number>>;
  /** Logits are divided by this before anything is made of them; default 1. */
  temperature?: number;
  /** Is told what share of the samples has been computed, after each pass. */
  onShare?: (share: number) => void;
}

/** What an update measured, with the weights as they were before it. Of a skipped one, not all is finite. */
export interface UpdateResult extends UpdateOutcome {
  loss: number;
  /** The objective's terms by name. */
  terms: Readonly<Record<string, number>>;
  /** Of the samples' action tokens, in order. */
  logProbabilities: Float32Array;
  /** In float16: the scale that it was computed with. */
  lossScale?: number;
}

/** What the steps of an algorithm need of the models, weights and optimizer behind them. */
export interface TrainingEngine {
  /** Throws TRAINING_MEMORY_SHORT where no update that has the longest of these samples fits into the memory that there is now. Computes nothing. */
  check(objective: Objective, samples: readonly (readonly TokenSequence[])[]): Promise<void>;
  /**
   * What the policy, or the reference policy, says of the action tokens of each sequence. Values are the policy's alone. `onShare` is told what
   * share of the sequences has been scored, after each pass. Throws TRAINING_MEMORY_SHORT where the reference's weights are read for it and there is no memory for them.
   */
  score(
    sequences: readonly TokenSequence[],
    weights: "policy" | "reference",
    temperature?: number,
    onShare?: (share: number) => void,
  ): Promise<ActionScores[]>;
  /**
   * Throws TRAINING_NOT_FINITE, with nothing changed by this update, for a loss or gradient that is not finite (in
   * float16 only if no smaller loss scale is left; before, the update is skipped), and TRAINING_MEMORY_SHORT before a pass that needs more memory than there is.
   */
  update(request: UpdateRequest): Promise<UpdateResult>;
}
