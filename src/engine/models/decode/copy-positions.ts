import type { KeyValueMemory, Pieces } from "./key-value-memory.ts";
import type { KeyValueArray, KeyValues } from "./key-values.ts";

/** A position of one row in keys and values with room for `capacity` positions a row. */
export interface Place extends KeyValues {
  capacity: number;
  row: number;
  at: number;
}

/** A position of one row in an array with room for `capacity` positions a row. */
interface ArrayPlace {
  array: KeyValueArray;
  capacity: number;
  row: number;
  at: number;
}

/** The heads of keys and values, and their memory. */
interface Copied {
  heads: number;
  headSize: number;
  keyValues: Pick<KeyValueMemory, "copy">;
}

/** Copies `count` positions of one row from one array to another. */
export function copyRow(copied: Copied, from: ArrayPlace, to: ArrayPlace, count: number): void {
  copyAll(copied, [[from, to]], count);
}

/** Copies `count` positions of one row, in all layers, from one place to another. */
export function copyPositions(copied: Copied, from: Place, to: Place, count: number): void {
  const pairs = (source: readonly KeyValueArray[], target: readonly KeyValueArray[]) =>
    source.map(
      (array, layer) =>
        [
          { ...from, array },
          { ...to, array: target[layer]! },
        ] as const,
    );
  copyAll(copied, [...pairs(from.keys, to.keys), ...pairs(from.values, to.values)], count);
}

function copyAll(
  { heads, headSize, keyValues }: Copied,
  pairs: readonly (readonly [from: ArrayPlace, to: ArrayPlace])[],
  count: number,
): void {
  const piecesOf = ({ array, capacity, row, at }: ArrayPlace): Pieces => ({
    array,
    start: (row * heads * capacity + at) * headSize,
    stride: capacity * headSize,
  });
  const copied = pairs.map(([from, to]) => [piecesOf(from), piecesOf(to)] as const);
  keyValues.copy(copied, heads, count * headSize);
}
