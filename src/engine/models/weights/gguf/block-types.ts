import { type FloatType, floatBytes, widenInPlace } from "../float-types.ts";
import { dequantizeEights, dequantizeFives, dequantizeFours } from "./dequantize-32.ts";
import { dequantizeQ2K, dequantizeQ3K, dequantizeQ4K, dequantizeQ5K, dequantizeQ6K } from "./dequantize-k.ts";

/** A number format of ggml, in blocks of `values` numbers and `bytes` bytes. */
export interface BlockType {
  name: string;
  values: number;
  bytes: number;
  /** Fills `floats` from whole blocks. */
  dequantize: (blocks: Uint8Array, floats: Float32Array) => void;
}

/** The readable types, by ggml's numbers (enum ggml_type in ggml.h). */
export const blockTypes: ReadonlyMap<number, BlockType> = new Map([
  [0, plain("F32")],
  [1, plain("F16")],
  [30, plain("BF16")],
  [2, quantized("Q4_0", 32, 18, (blocks, floats) => dequantizeFours(blocks, floats, false))],
  [3, quantized("Q4_1", 32, 20, (blocks, floats) => dequantizeFours(blocks, floats, true))],
  [6, quantized("Q5_0", 32, 22, (blocks, floats) => dequantizeFives(blocks, floats, false))],
  [7, quantized("Q5_1", 32, 24, (blocks, floats) => dequantizeFives(blocks, floats, true))],
  [8, quantized("Q8_0", 32, 34, dequantizeEights)],
  [10, quantized("Q2_K", 256, 84, dequantizeQ2K)],
  [11, quantized("Q3_K", 256, 110, dequantizeQ3K)],
  [12, quantized("Q4_K", 256, 144, dequantizeQ4K)],
  [13, quantized("Q5_K", 256, 176, dequantizeQ5K)],
  [14, quantized("Q6_K", 256, 210, dequantizeQ6K)],
]);

/** The names of the readable types. */
export const blockTypeNames = [...blockTypes.values()].map(({ name }) => name).join(", ");

function quantized(
  name: string,
  values: number,
  bytes: number,
  dequantize: BlockType["dequantize"],
): BlockType {
  return { name, values, bytes, dequantize };
}

function plain(type: FloatType): BlockType {
  const dequantize = (blocks: Uint8Array, floats: Float32Array) => {
    const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
    bytes.set(blocks, bytes.length - blocks.length);
    widenInPlace(floats, type);
  };
  return { name: type, values: 1, bytes: floatBytes[type], dequantize };
}
