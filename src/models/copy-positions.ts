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
  from: Place,
  to: Place,
  count: number,
): void {
  const copy = (source: KeyValueArray, target: KeyValueArray) => {
    for (let head = 0; head < heads; head++) {
      const start = ((from.row * heads + head) * from.capacity + from.at) * headSize;
      const end = ((to.row * heads + head) * to.capacity + to.at) * headSize;
      copyNumbers(source, start, target, end, count * headSize);
    }
  };
  from.keys.forEach((keys, layer) => {
    copy(keys, to.keys[layer]!);
    copy(from.values[layer]!, to.values[layer]!);
  });
}

/** Few numbers are copied faster one by one than through a view. */
function copyNumbers(
  from: KeyValueArray,
  source: number,
  to: KeyValueArray,
  target: number,
  count: number,
): void {
  if (count > 128) to.set(from.subarray(source, source + count), target);
  else for (let i = 0; i < count; i++) to[target + i] = from[source + i]!;
}
