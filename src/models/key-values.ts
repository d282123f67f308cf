import { elementBytes } from "../onnx/element-bytes.ts";
import type { ModelConfig } from "./model-config.ts";

/** What keys and values are kept as. int8: rounded, each channel of a head by a scale of its own. */
export type KeyValueType = "float32" | "int8";

/** The numbers of some keys or values. */
export type KeyValueArray = Float32Array | Int8Array;

/** Keys (rotated) and values, one array a layer, each [rows, key-value heads, positions, head size]. */
export interface KeyValues {
  keys: KeyValueArray[];
  values: KeyValueArray[];
}

/** An array of zeros. */
export function keyValueArray(type: KeyValueType, length: number): KeyValueArray {
  return type === "int8" ? new Int8Array(length) : new Float32Array(length);
}

/** Bytes of keys and values of one position of one sequence. */
export function bytesOfPosition(
  { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size }: ModelConfig,
  type: KeyValueType = "float32",
): number {
  return 2 * layers * heads * size * elementBytes[type];
}
