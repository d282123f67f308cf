import type { KeyValueMemory } from "./key-value-memory.ts";
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

/** Heads of keys and values, and the memory that they lie in. */
interface Copied {
  heads: number;
  headSize: number;
  keyValues: Pick<KeyValueMemory, "copy">;
}

/** Copies `count` positions of one row from one array to another. */
export function copyRow(
  { heads, headSize, keyValues }: Copied,
  from: ArrayPlace,
  to: ArrayPlace,
  count: number,
): void {
  const piecesOf = ({ array, capacity, row, at }: ArrayPlace) => ({
    array,
    start: (row * heads * capacity + at) * headSize,
    stride: capacity * headSize,
  });
  keyValues.copy(piecesOf(from), piecesOf(to), heads, count * headSize);
}

/** Copies `count` positions of one row, in all layers, from one place to another. */
export function copyPositions(copied: Copied, from: Place, to: Place, count: number): void {
  const copy = (source: KeyValueArray, target: KeyValueArray) =>
    copyRow(copied, { ...from, array: source }, { ...to, array: target }, count);
  from.keys.forEach((keys, layer) => {
    copy(keys, to.keys[layer]!);
    copy(from.values[layer]!, to.values[layer]!);
  });
}
