import type { CardArray, HalfType } from "../../onnx/card-memory.ts";
import { elementBytes } from "../../onnx/element-bytes.ts";
import type { FloatDataType } from "../../onnx/graph.ts";
import type { Target } from "../../onnx/target.ts";
import type { ModelConfig } from "../config/model-config.ts";

/** What keys and values are kept as. int8: rounded, each channel of a head by a scale of its own. Half precision: on cards. */
export type KeyValueType = "float32" | "int8" | HalfType;

/** The numbers of some keys or values in the processor's memory; those of half precision by their bits. */
export type ProcessorArray = Float32Array | Int8Array | Uint16Array;

/** The numbers of some keys or values. */
export type KeyValueArray = ProcessorArray | CardArray<FloatDataType>;

/** Keys (rotated) and values, one array a layer, each [rows, key-value heads, positions, head size]. */
export interface KeyValues {
  keys: KeyValueArray[];
  values: KeyValueArray[];
}

/** An array of zeros in the processor's memory. */
export function keyValueArray(type: KeyValueType, length: number): ProcessorArray {
  if (type === "float32") return new Float32Array(length);
  return type === "int8" ? new Int8Array(length) : new Uint16Array(length);
}

/** Bytes of keys and values of one position of one sequence. */
export function bytesOfPosition(
  { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size }: ModelConfig,
  type: KeyValueType = "float32",
): number {
  return 2 * layers * heads * size * elementBytes[type];
}

/** Of heads of these sizes alone does CUDA's operator keep keys and values in place. */
const cudaHeadStep = 8;

/** What a decoder for a target keeps keys and values as; `isRounded` asks for int8. */
export function keyValueTypeOf(
  { head_dim: size }: Pick<ModelConfig, "head_dim">,
  { device, precision = "float32" }: Target = {},
  isRounded = false,
): KeyValueType {
  if (device === "cuda" && size % cudaHeadStep === 0) return precision;
  return isRounded ? "int8" : "float32";
}
