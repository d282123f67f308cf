import type { FrozenBase } from "../models/weights/weight-sources.ts";
import { frozenBytes } from "../onnx/frozen-matrix.ts";
import { parametersOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/** Memory of a trainer's process that does not depend on the update, in bytes. */
export interface HeldMemory {
  /** Bytes of the trained parameters. */
  trained: number;
  /** Bytes of all parameters and the model's other tensors. */
  weights: number;
  /** Moments. */
  optimizer: number;
  /** The part of the moments that no update has written yet. It occupies no memory before the first one. */
  untouched: number;
}

/**
 * Returns the memory of a state, together with `beside`, the state of another model in the process. The critic and the
 * policy of an adapter share their base.
 */
export function heldMemory(
  state: TrainerState,
  base: FrozenBase | undefined,
  beside: TrainerState | undefined = state.critic,
): HeldMemory {
  const states = beside ? [state, beside] : [state];
  const arrays = new Set(states.flatMap((one) => Array.from(parametersOf(one).values(), ({ data }) => data)));
  return {
    trained: byteLength(trainedParameters(state).values()),
    weights: byteLength(Array.from(arrays, (data) => ({ data }))) + mappedBytes(base),
    optimizer: byteLength(states.flatMap(({ optimizer }) => [...optimizer.values()])),
    untouched: state.updates === 0 ? byteLength(state.optimizer.values()) : 0,
  };
}

/** Returns the bytes of a base's matrices in their files. */
export function mappedBytes(base: FrozenBase | undefined): number {
  return [...(base?.frozen.values() ?? [])].reduce((total, matrix) => total + frozenBytes(matrix), 0);
}

/** Returns the bytes of arrays. */
export function byteLength(tensors: Iterable<{ data: ArrayBufferView }>): number {
  return Array.from(tensors, ({ data }) => data.byteLength).reduce((total, bytes) => total + bytes, 0);
}
