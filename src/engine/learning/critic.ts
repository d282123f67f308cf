import type { Tensor } from "../models/weights/safetensors.ts";
import { byteLength } from "./held-memory.ts";
import { bitsOf } from "./optimizer-state.ts";
import { freshTrainerState, type TrainerState } from "./trainer-state.ts";
import { type TrainedModel, trainedWeightShapes } from "./training-graphs.ts";

/**
 * The state of a critic that is a model of its own, before it learned anything: it begins with what the policy is, a copy of its weights
 * or of its adapter (frozen weights are shared), with a value head of zeros in place of the language-model head, and moments of as many bits.
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

/** Bytes that `freshCritic` copies. */
export function freshCriticBytes(model: TrainedModel, { weights, adapter }: TrainerState): number {
  const copied = adapter.size === 0 ? bodyOf({ ...model, critic: true }, weights) : adapter;
  return byteLength(copied.values());
}

/** The weights that a critic has, too. */
function bodyOf(critic: TrainedModel, weights: TrainerState["weights"]): Map<string, Tensor> {
  const shapes = trainedWeightShapes(critic);
  return new Map([...weights].filter(([name]) => shapes.has(name)));
}

function copies(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}
