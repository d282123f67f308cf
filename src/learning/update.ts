import { EverturnError } from "../errors/everturn-error.ts";
import type { Outputs } from "../onnx/session.ts";
import { clipGradientNorm, updateWithAdamW } from "./adamw.ts";
import { momentsOf, parametersOf, type TrainerState } from "./trainer-state.ts";
import { gradientName } from "./training-graphs.ts";

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
 * One AdamW update of a state in place, from a model's `loss` and gradients of the named parameters. Returns the
 * gradient's norm before clipping. Throws TRAINING_NOT_FINITE, with nothing changed, for a loss or gradient
 * that is not finite.
 */
export function applyUpdate(
  state: TrainerState,
  outputs: Outputs,
  parameters: Iterable<string>,
  settings: UpdateSettings,
): number {
  const step = state.updates + 1;
  const gradients = new Map(Array.from(parameters, (name) => [name, outputs.floats(gradientName(name))]));
  const [loss] = outputs.floats("loss");
  const norm = clipGradientNorm([...gradients.values()], settings.gradientClip);
  for (const [quantity, value] of Object.entries({ "the loss": loss!, "the gradient's norm": norm })) {
    if (!Number.isFinite(value)) throw new EverturnError("TRAINING_NOT_FINITE", { step, quantity, value });
  }
  updateWithAdamW(parametersOf(state), gradients, momentsOf(state), { ...settings, update: step });
  state.updates = step;
  return norm;
}
