import type { KeyValueMemory } from "./key-value-memory.ts";
import type { KeyValueArray, KeyValues } from "./key-values.ts";

/** A position of one row in keys and values with room for `capacity` positions a row. */
export interface Place extends KeyValues {
  capacity: number;
  row: number;
  at: number;
}

/** Copies `count` positions of one row, in all layers, from one place to another. */
export function copyPositions(
  { heads, headSize }: { heads: number; headSize: number },
  memory: Pick<KeyValueMemory, "copy">,
  from: Place,
  to: Place,
  count: number,
): void {
  const piecesOf = ({ capacity, row, at }: Place, array: KeyValueArray) => ({
    array,
    start: (row * heads * capacity + at) * headSize,
    stride: capacity * headSize,
  });
  const copy = (source: KeyValueArray, target: KeyValueArray) =>
    memory.copy(piecesOf(from, source), piecesOf(to, target), heads, count * headSize);
  from.keys.forEach((keys, layer) => {
    copy(keys, to.keys[layer]!);
    copy(from.values[layer]!, to.values[layer]!);
  });
}
