import type { KeyValues } from "../models/cached-decoder.ts";
import { copyPositions } from "../models/copy-positions.ts";
import { release } from "../onnx/release.ts";

/** Keys and values of all layers for rows of sequences; layer by layer one array, [rows, heads, capacity, size]. */
export interface KeyValueCache {
  /** Rows that there is room for now. */
  rows(): number;
  /** Positions that each row has room for now. */
  capacity(): number;
  /** Bytes that it takes now. */
  bytes(): number;
  /**
   * Makes row i what row from[i] was (−1: anything), with room for `positions`. Where there is room already, only
   * rows that change their place are copied; room that is more than twice what is needed is given back. Where it
   * changes its size, it takes room for more rows to come, up to `most` positions in all its rows (default: for none).
   * Old and new memory are held together for one array at a time.
   */
  arrange(from: readonly number[], positions: number, most?: number): void;
  /** Gives back what is not needed for so many positions of its first rows. */
  trim(rows: number, positions: number): void;
  /** Arrays of rows `start` to `end` (excluded), without copying, one a layer: keys and values. */
  view(start: number, end: number): KeyValues;
  /** A copy of `count` positions of a row, [1, heads, count, size] a layer. */
  cut(row: number, at: number, count: number): KeyValues;
  /** Stores the first `count` positions of a row of other keys and values, [rows, heads, length, size] each. */
  write(row: number, at: number, other: KeyValues, from: FreshRow): void;
}

/** What a cache holds. */
export interface CacheShape {
  layers: number;
  heads: number;
  headSize: number;
  /** Capacities are multiples of this. */
  step: number;
}

/** Which part of other keys and values to take. */
export interface FreshRow {
  row: number;
  length: number;
  count: number;
}

/** An empty cache. */
export function createKeyValueCache(shape: CacheShape): KeyValueCache {
  const { layers, heads, headSize, step } = shape;
  let capacity = 0;
  let rows = 0;
  /** Keys of all layers, then values. */
  const all: Float32Array[] = Array.from({ length: 2 * layers }, () => new Float32Array());
  let viewed: { start: number; end: number; view: KeyValues } | undefined;

  const everything = (): KeyValues => ({ keys: all.slice(0, layers), values: all.slice(layers) });

  /** Where rows of an array go that had room for `before` positions a row. */
  const moved = (old: Float32Array, before: number, order: readonly number[]): Float32Array => {
    const array = new Float32Array(rows * heads * capacity * headSize);
    const kept = Math.min(before, capacity) * headSize;
    order.forEach((row, target) => {
      for (let head = 0; row >= 0 && head < heads; head++) {
        const start = (row * heads + head) * before * headSize;
        array.set(old.subarray(start, start + kept), (target * heads + head) * capacity * headSize);
      }
    });
    return array;
  };

  const resize = (order: readonly number[], nextRows: number, nextCapacity: number) => {
    const before = capacity;
    rows = nextRows;
    capacity = nextCapacity;
    viewed = undefined;
    try {
      all.forEach((old, index) => {
        all[index] = moved(old, before, order);
        release(old);
      });
    } catch (error) {
      // Without memory for an array, those before it are of another size than those after it.
      [rows, capacity] = [0, 0];
      all.fill(new Float32Array());
      throw error;
    }
  };

  const rounded = (positions: number) => Math.ceil(positions / step) * step;

  return {
    rows: () => rows,
    capacity: () => capacity,
    bytes: () => all.reduce((total, { byteLength }) => total + byteLength, 0),
    arrange(from, positions, most = 0) {
      const wanted = rounded(positions);
      const keepsCapacity = wanted <= capacity && wanted > capacity / 2;
      const keepsRows = from.length <= rows && from.length > rows / 4;
      const changed = [...from.keys()].filter((row) => from[row]! >= 0 && from[row] !== row);
      if (keepsCapacity && keepsRows && !changed.some((row) => from.includes(row))) {
        const size = heads * capacity * headSize;
        for (const array of all) {
          for (const row of changed) array.copyWithin(row * size, from[row]! * size, (from[row]! + 1) * size);
        }
        return;
      }
      const nextCapacity = keepsCapacity ? capacity : wanted;
      const spare = keepsRows ? rows : from.length < rows ? 0 : Math.ceil(1.5 * rows);
      const bound = nextCapacity === 0 ? 0 : Math.floor(most / nextCapacity);
      resize(from, Math.max(from.length, Math.min(spare, bound)), nextCapacity);
    },
    trim(count, positions) {
      const wanted = rounded(positions);
      if (count === rows && wanted === capacity) return;
      resize([...Array(count).keys()], count, wanted);
    },
    view(start, end) {
      // Asked for at each step, and nearly always the same.
      if (viewed?.start === start && viewed.end === end) return viewed.view;
      const row = heads * capacity * headSize;
      const cut = all.map((array) => array.subarray(start * row, end * row));
      const view = { keys: cut.slice(0, layers), values: cut.slice(layers) };
      viewed = { start, end, view };
      return view;
    },
    cut(row, at, count) {
      const size = heads * count * headSize;
      const numbers = new Float32Array(2 * layers * size); // one: to make an array costs more than to fill it
      const part = (_: unknown, index: number) => numbers.subarray(index * size, (index + 1) * size);
      const parts = Array.from(all, part);
      const copy = { keys: parts.slice(0, layers), values: parts.slice(layers) };
      const to = { ...copy, capacity: count, row: 0, at: 0 };
      copyPositions(shape, { ...everything(), capacity, row, at }, to, count);
      return copy;
    },
    write(row, at, other, { row: otherRow, length, count }) {
      const from = { ...other, capacity: length, row: otherRow, at: 0 };
      copyPositions(shape, from, { ...everything(), capacity, row, at }, count);
    },
  };
}
