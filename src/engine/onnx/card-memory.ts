import type { Card } from "../devices/device.ts";
import { elementBytes } from "./element-bytes.ts";

/** Element types without a typed array. */
export type HalfType = "float16" | "bfloat16";

/** Element types of arrays on a card. */
export type CardType = HalfType | "float32" | "int32" | "int64";

/** Numbers in the memory of a card, viewed like typed arrays. */
export interface CardArray<Type extends CardType = CardType> {
  readonly type: Type;
  /** The memory that it belongs to. */
  readonly buffer: CardBuffer;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly length: number;
  subarray(start: number, end: number): CardArray<Type>;
}

/**
 * Memory of a card. For CUDA by its address. For WebGPU by the buffer's address, which does not identify parts of it.
 */
export interface CardBuffer {
  readonly card: Card;
  readonly address: bigint;
}

/** The source or destination of a copy. Typed arrays are in main memory. */
export interface CopiedBytes {
  readonly array: CardArray | NodeJS.TypedArray;
  /** Bytes from the array's beginning to the first piece. */
  readonly start: number;
  /** Bytes from the beginning of a piece to that of the next. */
  readonly stride: number;
}

/** Memory of a card. Failures throw ONNX_RUN_FAILED or ONNX_OUT_OF_MEMORY. */
export interface CardMemory {
  /** Allocates an array of zeros. Free it after use. */
  allocate<Type extends CardType>(type: Type, length: number): CardArray<Type>;
  /** Fills an array with zeros. */
  clear(array: CardArray): void;
  /** Frees the memory of an array, including all parts of it. */
  free(array: Pick<CardArray, "buffer">): void;
  /**
   * Copies `count` pieces of `bytes` bytes for each pair, within the card's memory or between it and main memory.
   * Offsets are the same in all pairs, and only arrays differ.
   */
  copyAll(pairs: readonly CopiedPair[], count: number, bytes: number): void;
}

/** The source and the destination of a copy. */
export type CopiedPair = readonly [from: CopiedBytes, to: CopiedBytes];

/** Numbers in memory of a card. */
export function cardArray<Type extends CardType>(
  type: Type,
  buffer: CardBuffer,
  byteOffset: number,
  length: number,
): CardArray<Type> {
  const width = elementBytes[type];
  return {
    type,
    buffer,
    byteOffset,
    byteLength: width * length,
    length,
    subarray: (start, end) => cardArray(type, buffer, byteOffset + width * start, end - start),
  };
}
