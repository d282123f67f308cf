import type { Tensor } from "../models/weights/safetensors.ts";
import { byteLength } from "./held-memory.ts";
import { bitsOf } from "./optimizer-state.ts";
import { freshTrainerState, type TrainerState } from "./trainer-state.ts";
import { type TrainedModel, trainedWeightShapes } from "./training-graphs.ts";

/**
 * Returns the initial state of a critic that is a separate model. It copies the policy's weights or adapter (frozen
 * weights are shared). A zeroed value head replaces the language-model head. Its moments have as many bits as the
 * policy's.
 */
export function freshCritic(
  model: TrainedModel,
  { weights, adapter, optimizer }: TrainerState,
): TrainerState {
  const bits = bitsOf(optimizer);
  const critic = { ...model, critic: true };
  const body = bodyOf(critic, weights);
  if (adapter.size === 0) return freshTrainerState(critic, copies(body), 0, bits);
  return { ...freshTrainerState(critic, body, 0, bits), adapter: copies(adapter) };
}

/**
 * Returns the initial state of a critic with its own weights, all of which are trained. A zeroed value head replaces
 * their language-model head. The state takes ownership of the weights.
 */
export function wholeCritic(
  config: TrainedModel["config"],
  weights: ReadonlyMap<string, Tensor>,
): TrainerState {
  const critic = { config, critic: true };
  return freshTrainerState(critic, bodyOf(critic, weights));
}

/** Returns the bytes that `freshCritic` copies. */
export function freshCriticBytes(model: TrainedModel, { weights, adapter }: TrainerState): number {
  const copied = adapter.size === 0 ? bodyOf({ ...model, critic: true }, weights) : adapter;
  return byteLength(copied.values());
}

/** Returns the weights that a critic has as well. */
function bodyOf(critic: TrainedModel, weights: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  const shapes = trainedWeightShapes(critic);
  return new Map([...weights].filter(([name]) => shapes.has(name)));
}

function copies(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}
