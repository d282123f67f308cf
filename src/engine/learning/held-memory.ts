import type { FrozenBase } from "../models/weights/weight-sources.ts";
import { frozenBytes } from "../onnx/frozen-matrix.ts";
import { parametersOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/** What a trainer's process holds whatever an update does, bytes. */
export interface HeldMemory {
  /** Of the parameters that are trained. */
  trained: number;
  /** Of all, and of what else the model has. */
  weights: number;
  /** Moments. */
  optimizer: number;
  /** Those of them that no update has written to yet: they aren't in memory before the first one. */
  untouched: number;
}

/** What a state takes, with `beside`, the state of what else is in the process; an adapter's critic and policy share their base. */
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

/** Bytes of a base's matrices in their files. */
export function mappedBytes(base: FrozenBase | undefined): number {
  return [...(base?.frozen.values() ?? [])].reduce((total, matrix) => total + frozenBytes(matrix), 0);
}

/** Bytes of arrays. */
export function byteLength(tensors: Iterable<{ data: ArrayBufferView }>): number {
  return Array.from(tensors, ({ data }) => data.byteLength).reduce((total, bytes) => total + bytes, 0);
}
