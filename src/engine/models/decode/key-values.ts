import type { CardArray, HalfType } from "../../onnx/card-memory.ts";
import { elementBytes } from "../../onnx/element-bytes.ts";
import type { FloatDataType } from "../../onnx/graph.ts";
import type { Target } from "../../onnx/target.ts";
import type { ModelConfig } from "../config/model-config.ts";

/** The type of keys and values. int8: rounded, with a scale per channel of a head. Half precision: on cards. */
export type KeyValueType = "float32" | "int8" | HalfType;

/** Keys or values in main memory. Those of half precision by their bits. */
export type ProcessorArray = Float32Array | Int8Array | Uint16Array;

/** Keys or values in main memory or on a card. */
export type KeyValueArray = ProcessorArray | CardArray<FloatDataType>;

/** Keys (rotated) and values, one array per layer, each [rows, key-value heads, positions, head size]. */
export interface KeyValues {
  keys: KeyValueArray[];
  values: KeyValueArray[];
}

/** Allocates an array of zeros in main memory. */
export function keyValueArray(type: KeyValueType, length: number): ProcessorArray {
  if (type === "float32") return new Float32Array(length);
  return type === "int8" ? new Int8Array(length) : new Uint16Array(length);
}

/** Returns the bytes of keys and values per position of a sequence. */
export function bytesOfPosition(
  { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size }: ModelConfig,
  type: KeyValueType = "float32",
): number {
  return 2 * layers * heads * size * elementBytes[type];
}

/** CUDA's operator keeps keys and values in place only for head sizes that are multiples of this. */
const cudaHeadStep = 8;

/** Returns the type of keys and values for a target. `isRounded` requests int8. */
export function keyValueTypeOf(
  { head_dim: size }: Pick<ModelConfig, "head_dim">,
  { device, precision = "float32" }: Target = {},
  isRounded = false,
): KeyValueType {
  if (device === "cuda" && size % cudaHeadStep === 0) return precision;
  return isRounded ? "int8" : "float32";
}
