import type { Card } from "../devices/device.ts";
import { elementBytes } from "./element-bytes.ts";

/** Element types that a processor has no arrays of. */
export type HalfType = "float16" | "bfloat16";

/** Element types of arrays on a card. */
export type CardType = HalfType | "float32" | "int32" | "int64";

/** Numbers in the memory of a card, seen as typed arrays see the processor's. */
export interface CardArray<Type extends CardType = CardType> {
  readonly type: Type;
  /** The memory that it is a part of. */
  readonly buffer: CardBuffer;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly length: number;
  subarray(start: number, end: number): CardArray<Type>;
}

/** Memory of a card: of CUDA's by its address, of WebGPU's by the buffer's own, which says nothing of parts of it. */
export interface CardBuffer {
  readonly card: Card;
  readonly address: bigint;
}

/** Where bytes are copied from or to: typed arrays lie in the processor's memory. */
export interface CopiedBytes {
  readonly array: CardArray | NodeJS.TypedArray;
  /** Bytes from the array's beginning to the first piece. */
  readonly start: number;
  /** Bytes from the beginning of a piece to that of the next. */
  readonly stride: number;
}

/** Memory of a card. What fails throws ONNX_RUN_FAILED or ONNX_OUT_OF_MEMORY. */
export interface CardMemory {
  /** An array of zeros, to be freed. */
  allocate<Type extends CardType>(type: Type, length: number): CardArray<Type>;
  /** Makes an array zeros. */
  clear(array: CardArray): void;
  /** Frees the memory of an array, with all parts of it. */
  free(array: Pick<CardArray, "buffer">): void;
  /**
   * Copies `count` pieces of so many bytes for each pair, within the card's memory or between it and the processor's. Places are
   * the same in all pairs; only arrays differ.
   */
  copyAll(pairs: readonly CopiedPair[], count: number, bytes: number): void;
}

/** What is copied, and where it goes. */
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
