import { setImmediate } from "node:timers/promises";
import type { QuantizedMatrix } from "../../onnx/quantized-matrix.ts";
import { type LazyTensor, loaded, type Tensor } from "./safetensors.ts";
import { isVisionWeight } from "./vision-weights.ts";

/** The formats of quantized frozen matrices. */
export type Quantization = "int8" | "int4";

/** Returns the quantization of a setting. */
export function quantizationOf(setting: unknown): Quantization | undefined {
  return setting === "int8" || setting === "int4" ? setting : undefined;
}

/** A quantized matrix whose parts are in memory. */
export interface HeldMatrix extends QuantizedMatrix {
  readonly shape: number[];
  readonly values: Uint8Array;
  readonly scales: Float32Array;
  readonly minimums?: Float32Array;
}

const blockSize = 32;

/**
 * Rounds a matrix to blocks of 32 like GGUF's Q8_0 and Q4_0, but with float32 scales. The largest number of a block
 * becomes ±127, or −8 with 4 bits. Returns undefined for tensors that aren't matrices of whole blocks.
 */
export function quantizeMatrix({ shape, data }: Tensor, bits: 4 | 8): HeldMatrix | undefined {
  const [out, input = 0] = shape;
  if (out === undefined || shape.length !== 2 || input % blockSize !== 0) return undefined;
  const middle = 2 ** (bits - 1);
  const values = new Uint8Array((data.length * bits) / 8);
  const scales = new Float32Array(data.length / blockSize);
  const whole = new Uint8Array(blockSize);
  for (let at = 0, from = 0; at < scales.length; at++, from += blockSize) {
    const largest = largestOf(data, from);
    scales[at] = bits === 8 ? Math.abs(largest) / 127 : largest / -8;
    const scale = scales[at] || 1;
    for (let i = 0; i < blockSize; i++) {
      whole[i] = Math.min(Math.round(data[from + i]! / scale), middle - 1) + middle;
    }
    if (bits === 8) values.set(whole, from);
    else for (let i = 0; i < blockSize; i += 2) values[(from + i) / 2] = whole[i]! | (whole[i + 1]! << 4);
  }
  return { shape, bits, block: blockSize, values, scales };
}

/** Returns the numbers of a quantized matrix. */
export function dequantizeMatrix({ shape, bits, block, values, scales, minimums }: HeldMatrix): Tensor {
  const [out = 0, input = 0] = shape;
  const data = new Float32Array(out * input);
  const middle = minimums ? 0 : 2 ** (bits - 1);
  for (let at = 0; at < data.length; at++) {
    const value = bits === 8 ? values[at]! : (values[at >> 1]! >> (4 * (at & 1))) & 15;
    const ofBlock = Math.floor(at / block);
    data[at] = Math.fround(scales[ofBlock]! * (value - middle)) + (minimums?.[ofBlock] ?? -0);
  }
  return { shape, data };
}

/** Returns the number of a block with the largest magnitude. */
function largestOf(data: Float32Array, from: number): number {
  let largest = 0;
  for (let at = from; at < from + blockSize; at++) {
    if (Math.abs(data[at]!) > Math.abs(largest)) largest = data[at]!;
  }
  return largest;
}

/** Returns the bits of a matrix by its name. Embeddings and heads keep 8. */
export function bitsOf(name: string, quantization: Quantization): 4 | 8 {
  return quantization === "int8" || /^(model\.embed_tokens|lm_head)\./.test(name) ? 8 : 4;
}

/**
 * Returns the block format of a weight by its name; undefined for weights that stay unchanged: norms, biases, routers
 * of experts, the vision part, and matrices that don't divide into blocks.
 */
export function blockFormat(
  name: string,
  shape: readonly number[],
  quantization: Quantization,
): Pick<QuantizedMatrix, "bits" | "block"> | undefined {
  const [, input = 0] = shape;
  if (shape.length !== 2 || input % blockSize !== 0 || name.endsWith(".mlp.gate.weight")) return undefined;
  if (isVisionWeight(name)) return undefined;
  return { bits: bitsOf(name, quantization), block: blockSize };
}

/** Quantizes the matrices among weights by `blockFormat`, one after the other, so that other work gets turns. */
export async function quantizeWeights<Weight extends Tensor | LazyTensor>(
  weights: ReadonlyMap<string, Weight>,
  quantization: Quantization,
): Promise<{ tensors: Map<string, Weight>; quantized: Map<string, HeldMatrix> }> {
  const tensors = new Map<string, Weight>();
  const quantized = new Map<string, HeldMatrix>();
  for (const [name, tensor] of weights) {
    await setImmediate();
    const format = blockFormat(name, tensor.shape, quantization);
    const matrix = format && quantizeMatrix(await loaded(tensor), format.bits);
    if (matrix) quantized.set(name, matrix);
    else tensors.set(name, tensor);
  }
  return { tensors, quantized };
}
