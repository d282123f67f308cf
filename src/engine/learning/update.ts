import type { AdamW } from "./adamw.ts";
import { countUpdate } from "./count-update.ts";
import type { LearningRates } from "./learning-rates.ts";
import { momentsOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/** The settings of an update. */
export interface UpdateSettings extends LearningRates {
  /** Largest norm of the whole gradient. */
  gradientClip: number;
  weightDecay: number;
  /** Adam's, as in AdamWSettings. */
  betas?: readonly [number, number];
}

/** The outcome of an update. */
export interface UpdateOutcome {
  /** Before clipping. */
  gradientNorm: number;
  /** In float16: a value was not finite, so nothing was updated and the loss scale was halved. */
  skipped: boolean;
}

/**
 * Makes one AdamW update of a state in place, from a loss and the gradients of some of its parameters, clipped to the
 * largest norm. Throws TRAINING_NOT_FINITE, without changing anything, for a loss or gradient that is not finite,
 * unless the state has a loss scale that can be halved.
 */
export async function applyUpdate(
  optimizer: AdamW,
  state: TrainerState,
  loss: number,
  gradients: ReadonlyMap<string, Float32Array>,
  settings: UpdateSettings,
): Promise<UpdateOutcome> {
  const gradientNorm = await optimizer.norm(gradients);
  const isSound = countUpdate(state, { "the loss": loss, "the gradient's norm": gradientNorm });
  if (!isSound) return { gradientNorm, skipped: true };
  const gradientScale = Math.min(1, settings.gradientClip / (gradientNorm + 1e-6));
  const adamW = { ...settings, update: state.updates, gradientScale };
  await optimizer.update(trainedParameters(state), gradients, momentsOf(state), adamW);
  return { gradientNorm, skipped: false };
}
