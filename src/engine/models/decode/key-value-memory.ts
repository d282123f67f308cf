import { defined } from "../../../base/records/defined.ts";
import type { CardArray, CardBuffer, CardMemory } from "../../onnx/card-memory.ts";
import { elementBytes } from "../../onnx/element-bytes.ts";
import type { FloatDataType } from "../../onnx/graph.ts";
import type { MemoryAdvice } from "../../onnx/memory-advice.ts";
import { release } from "../../onnx/release.ts";
import { runError } from "../../onnx/run-error.ts";
import { type KeyValueArray, type KeyValueType, keyValueArray, type ProcessorArray } from "./key-values.ts";

/** Pieces of an array, by its numbers: where the first begins, and how far each is from the one before. */
export interface Pieces {
  readonly array: KeyValueArray;
  readonly start: number;
  readonly stride: number;
}

/** What is copied, and where it goes. */
export type CopiedPieces = readonly [from: Pieces, to: Pieces];

/** Where keys and values of rows are kept. */
export interface KeyValueMemory {
  /** What is kept. */
  readonly type: KeyValueType;
  /** An array of zeros. */
  allocate(length: number): KeyValueArray;
  /**
   * Copies `count` pieces of so many numbers for each pair of arrays, in which they lie alike; either side may be of the processor's
   * memory.
   */
  copy(pairs: readonly CopiedPieces[], count: number, length: number): void;
  /** Gives an array's memory back. */
  release(array: KeyValueArray): void;
  /** Gives back the memory of a part of an array, which takes memory again where it is written to; undefined where there is no way. */
  readonly forget?: (part: KeyValueArray) => void;
}

/** The processor's memory, of arrays that take it where they are written to if the system can be told. */
export function processorMemory(type: KeyValueType, advice?: MemoryAdvice): KeyValueMemory {
  return defined({
    type,
    allocate(length) {
      const array = keyValueArray(type, length);
      advice?.makeSparse(array);
      return array;
    },
    copy: copyOnProcessor,
    release: (array) => release(onProcessor(array)),
    forget: advice && ((part) => advice.makeSparse(onProcessor(part))),
  });
}

/** Memory of a card, which has to be given back. */
export interface CardKeyValues extends KeyValueMemory {
  /** Gives back what was not released. */
  close(): void;
}

/**
 * The memory of a card. What is released is kept for arrays of the same size, the first for the first: so that
 * they come to lie where they lay, and runs that were recorded there can be repeated.
 */
export function cardMemory(card: CardMemory, type: FloatDataType): CardKeyValues {
  const width = elementBytes[type];
  const held = new Set<CardBuffer>();
  /** Released ones, in the order in which they were. */
  let kept: CardArray<FloatDataType>[] = [];
  let [heldBytes, mostHeld, keptBytes] = [0, 0, 0];

  /** No more is kept than was in use at once. */
  const shrink = () => {
    while (keptBytes > mostHeld) {
      const [oldest] = kept.splice(0, 1);
      if (!oldest) return;
      keptBytes -= oldest.byteLength;
      card.free(oldest);
    }
  };
  const taken = (length: number): CardArray<FloatDataType> => {
    const at = kept.findIndex((one) => one.length === length);
    if (at < 0) return card.allocate(type, length);
    const [array] = kept.splice(at, 1);
    keptBytes -= array!.byteLength;
    card.clear(array!);
    return array!;
  };
  const inBytes = ({ array, start, stride }: Pieces) => ({
    array,
    start: width * start,
    stride: width * stride,
  });
  return {
    type,
    allocate(length) {
      const array = taken(length);
      if (length === 0) return array;
      held.add(array.buffer);
      heldBytes += array.byteLength;
      mostHeld = Math.max(mostHeld, heldBytes);
      return array;
    },
    copy(pairs, count, length) {
      const inMemory = pairs.map(([from, to]) => [inBytes(from), inBytes(to)] as const);
      card.copyAll(inMemory, count, width * length);
    },
    release(array) {
      if (!("type" in array)) release(array);
      else if (held.delete(array.buffer)) {
        heldBytes -= array.byteLength;
        keptBytes += array.byteLength;
        kept.push(array);
        shrink();
      }
    },
    close() {
      for (const buffer of held) card.free({ buffer });
      held.clear();
      for (const array of kept) card.free(array);
      kept = [];
    },
  };
}

function copyOnProcessor(pairs: readonly CopiedPieces[], count: number, length: number): void {
  for (const [from, to] of pairs) copyPieces(from, to, count, length);
}

function copyPieces(from: Pieces, to: Pieces, count: number, length: number): void {
  const [source, target] = [onProcessor(from.array), onProcessor(to.array)];
  for (let piece = 0; piece < count; piece++) {
    const start = from.start + piece * from.stride;
    const end = to.start + piece * to.stride;
    // Few numbers are copied faster one by one than through a view.
    if (length > 128) target.set(source.subarray(start, start + length), end);
    else for (let at = 0; at < length; at++) target[end + at] = source[start + at]!;
  }
}

/** An array of the processor's memory. Throws ONNX_RUN_FAILED for one of a card's. */
export function onProcessor(array: KeyValueArray): ProcessorArray {
  if ("type" in array) throw runError("keys and values are in a GPU's memory");
  return array;
}
