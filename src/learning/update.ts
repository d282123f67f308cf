import { EverturnError } from "../errors/everturn-error.ts";
import type { AdamW } from "./adamw.ts";
import { momentsOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/** How far an update goes. */
export interface UpdateSettings {
  learningRate: number;
  /** Largest norm of the whole gradient. */
  gradientClip: number;
  weightDecay: number;
  /** Adam's, as in AdamWSettings. */
  betas?: readonly [number, number];
}

/**
 * One AdamW update of a state in place, from a loss and the gradients of some of its parameters, held to the
 * largest norm. Returns the gradient's norm before that. Throws TRAINING_NOT_FINITE, with nothing changed, for a
 * loss or gradient that is not finite.
 */
export function applyUpdate(
  optimizer: AdamW,
  state: TrainerState,
  loss: number,
  gradients: ReadonlyMap<string, Float32Array>,
  settings: UpdateSettings,
): number {
  const step = state.updates + 1;
  const norm = optimizer.norm(gradients.values());
  for (const [quantity, value] of Object.entries({ "the loss": loss, "the gradient's norm": norm })) {
    if (!Number.isFinite(value)) throw new EverturnError("TRAINING_NOT_FINITE", { step, quantity, value });
  }
  const gradientScale = Math.min(1, settings.gradientClip / (norm + 1e-6));
  const adamW = { ...settings, update: step, gradientScale };
  optimizer.update(trainedParameters(state), gradients, momentsOf(state), adamW);
  state.updates = step;
  return norm;
}
