import type { KeyValues } from "../models/cached-decoder.ts";

/** Keys and values of all layers for rows of sequences; layer by layer one array, [rows, heads, capacity, size]. */
export type KeyValueCache = {
  /** Positions that each row has room for now; a multiple of 32. */
  capacity(): number;
  /** Makes room for `positions` a row, or gives room back when less than half is needed. */
  resize(positions: number): void;
  /** Arrays of the first `rows` rows, without copying, one a layer: keys and values. */
  view(rows: number): KeyValues;
  /** Stores positions of fresh keys and values ([rows, heads, length, size] each) in a row. */
  write(row: number, at: number, fresh: KeyValues, from: FreshRows): void;
  /** Copies row `from` over row `to`. */
  move(from: number, to: number): void;
};

/** Which part of fresh keys and values to take: `count` positions from the start of `row`, of `length` in all. */
type FreshRows = { row: number; length: number; count: number };

/** Capacities are multiples of this, so that growing by a token rarely copies the cache. */
const step = 32;

/** An empty cache for at most `rows` sequences. */
export function createKeyValueCache(shape: {
  rows: number;
  layers: number;
  heads: number;
  headSize: number;
}): KeyValueCache {
  const { rows, layers, heads, headSize } = shape;
  let capacity = 0;
  const allocate = () =>
    Array.from({ length: layers }, () => new Float32Array(rows * heads * capacity * headSize));
  let arrays: KeyValues = { keys: allocate(), values: allocate() };

  const pairs = (other: KeyValues): [Float32Array, Float32Array][] => [
    ...arrays.keys.map((array, layer): [Float32Array, Float32Array] => [array, other.keys[layer]!]),
    ...arrays.values.map((array, layer): [Float32Array, Float32Array] => [array, other.values[layer]!]),
  ];

  return {
    capacity: () => capacity,
    resize(positions) {
      const wanted = Math.ceil(positions / step) * step;
      if (wanted <= capacity && wanted > capacity / 2) return;
      const oldStride = capacity * headSize;
      const kept = Math.min(capacity, wanted) * headSize;
      capacity = wanted;
      const old = arrays;
      arrays = { keys: allocate(), values: allocate() };
      for (const [to, from] of pairs(old)) {
        for (let block = 0; block < rows * heads; block++) {
          const start = block * oldStride;
          to.set(from.subarray(start, start + kept), block * capacity * headSize);
        }
      }
    },
    view(count) {
      const size = count * heads * capacity * headSize;
      const cut = (array: Float32Array) => array.subarray(0, size);
      return { keys: arrays.keys.map(cut), values: arrays.values.map(cut) };
    },
    write(row, at, fresh, { row: freshRow, length, count }) {
      for (const [to, from] of pairs(fresh)) {
        for (let head = 0; head < heads; head++) {
          const start = (freshRow * heads + head) * length * headSize;
          const target = ((row * heads + head) * capacity + at) * headSize;
          to.set(from.subarray(start, start + count * headSize), target);
        }
      }
    },
    move(from, to) {
      const size = heads * capacity * headSize;
      for (const array of [...arrays.keys, ...arrays.values]) {
        array.copyWithin(to * size, from * size, (from + 1) * size);
      }
    },
  };
}
