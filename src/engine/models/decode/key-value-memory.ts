import { defined } from "../../../base/records/defined.ts";
import type { CardArray, CardBuffer, CardMemory } from "../../onnx/card-memory.ts";
import { elementBytes } from "../../onnx/element-bytes.ts";
import type { FloatDataType } from "../../onnx/graph.ts";
import type { MemoryAdvice } from "../../onnx/memory-advice.ts";
import { passError } from "../../onnx/pass-error.ts";
import { release } from "../../onnx/release.ts";
import { type KeyValueArray, type KeyValueType, keyValueArray, type ProcessorArray } from "./key-values.ts";

/** Pieces of an array, in numbers: where the first begins, and the distance between them. */
export interface Pieces {
  readonly array: KeyValueArray;
  readonly start: number;
  readonly stride: number;
}

/** The source and the destination of a copy. */
export type CopiedPieces = readonly [from: Pieces, to: Pieces];

/** The memory of rows' keys and values. */
export interface KeyValueMemory {
  /** Their type. */
  readonly type: KeyValueType;
  /** Allocates an array of zeros. */
  allocate(length: number): KeyValueArray;
  /**
   * Copies `count` pieces of `length` numbers for each pair of arrays with equal layouts. Either side may be in main
   * memory.
   */
  copy(pairs: readonly CopiedPieces[], count: number, length: number): void;
  /** Releases an array's memory. */
  release(array: KeyValueArray): void;
  /**
   * Releases the memory of a part of an array, which occupies memory again after a write. Undefined if that is
   * impossible.
   */
  readonly forget?: (part: KeyValueArray) => void;
}

/** Main memory. If the system supports the advice, arrays occupy memory only once they are written. */
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

/** Memory of a card, which must be released. */
export interface CardKeyValues extends KeyValueMemory {
  /** Releases everything that was not released before. */
  close(): void;
}

/**
 * The memory of a card. Released arrays are kept for later ones of the same size, first in first out. So arrays get the
 * same addresses again, and recorded passes can be replayed.
 */
export function cardMemory(card: CardMemory, type: FloatDataType): CardKeyValues {
  const width = elementBytes[type];
  const held = new Set<CardBuffer>();
  /** Released arrays in the order of their release. */
  let kept: CardArray<FloatDataType>[] = [];
  let [heldBytes, mostHeld, keptBytes] = [0, 0, 0];

  /** Frees kept arrays until no more is allocated than was in use at the same time. */
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
    // Copying few numbers one by one is faster than through a view.
    if (length > 128) target.set(source.subarray(start, start + length), end);
    else for (let at = 0; at < length; at++) target[end + at] = source[start + at]!;
  }
}

/** Checks that an array is in main memory. Throws ONNX_RUN_FAILED for one on a card. */
export function onProcessor(array: KeyValueArray): ProcessorArray {
  if ("type" in array) throw passError("keys and values are in a GPU's memory");
  return array;
}
