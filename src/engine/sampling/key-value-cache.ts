import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import { copyPositions, copyRow } from "../models/decode/copy-positions.ts";
import type { KeyValueMemory } from "../models/decode/key-value-memory.ts";
import { type KeyValueArray, type KeyValues, keyValueArray } from "../models/decode/key-values.ts";
import { elementBytes } from "../onnx/element-bytes.ts";

/**
 * Keys and values of all layers for rows of sequences. Each layer has one array for each, [rows, heads, capacity,
 * size].
 */
export interface KeyValueCache {
  /** The number of rows that currently fit. */
  rows(): number;
  /** The number of positions that each row currently has room for. */
  capacity(): number;
  /**
   * Returns the bytes that the cache would use if its first rows had these numbers of positions. Default: their current
   * ones.
   */
  bytes(positions?: readonly number[]): number;
  /**
   * Moves row from[i] to row i (−1: any contents) with `positions[i]` of its positions and room for `room` of them.
   * Default: the longest row's. If there is room already, copies only rows that change their place. Holds old and new
   * memory together for only one array at a time.
   */
  arrange(from: readonly number[], positions: readonly number[], room?: number): void;
  /** Moves row from[i] to row i with `positions[i]` of its positions, and releases all other memory. */
  trim(from: readonly number[], positions: readonly number[]): void;
  /**
   * Releases the memory of a row, which then contains zeros, without moving other rows. Undefined if that is
   * impossible.
   */
  forget?(row: number): void;
  /**
   * Returns the arrays of rows `start` up to but not including `end`, without copying: keys and values, one array per
   * layer.
   */
  view(start: number, end: number): KeyValues;
  /** Returns a copy of `count` positions of a row, [1, heads, count, size] per layer. */
  cut(row: number, at: number, count: number): KeyValues;
  /** Stores the first `count` positions of a row from other keys and values, each [rows, heads, length, size]. */
  write(row: number, at: number, other: KeyValues, from: FreshRow): void;
}

/** The dimensions and memory of a cache. */
export interface CacheShape {
  layers: number;
  heads: number;
  headSize: number;
  /** Capacities are multiples of this number of positions, and memory is counted in the same unit. */
  step: number;
  /**
   * Whether passes touch only the positions that rows have. Then unused room costs nothing, because the system provides
   * memory by the page at the first write. Otherwise every row occupies its whole capacity.
   */
  sparse: boolean;
  /** The memory of its arrays. */
  keyValues: KeyValueMemory;
}

/** The part of other keys and values to take. */
export interface FreshRow {
  row: number;
  length: number;
  count: number;
}

/** The least number of rows with room if unused room costs nothing. */
const roomyRows = 16;

/** Creates an empty cache for the keys and values of a decoder. */
export function createDecoderCache({
  config,
  capacityStep: step,
  isSparse: sparse,
  keyValues,
}: CachedDecoder): KeyValueCache {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: headSize } = config;
  return createKeyValueCache({ layers, heads, headSize, step, sparse, keyValues });
}

/** Creates an empty cache. */
export function createKeyValueCache(shape: CacheShape): KeyValueCache {
  const { layers, heads, headSize, step, sparse, keyValues } = shape;
  const bytesOfPosition = 2 * layers * heads * headSize * elementBytes[keyValues.type];
  /** Whether unused room costs nothing and a row's memory can be released without moving the others. */
  const isRoomy = sparse && keyValues.forget !== undefined;
  const emptyArray = () => keyValueArray(keyValues.type, 0);
  let capacity = 0;
  let rows = 0;
  /** The number of positions for which each row occupies memory. */
  let taken: number[] = [];
  /** Keys of all layers, then values. */
  const all = Array.from({ length: 2 * layers }, (): KeyValueArray => emptyArray());
  let viewed: { start: number; end: number; view: KeyValues } | undefined;

  const everything = (): KeyValues => ({ keys: all.slice(0, layers), values: all.slice(layers) });
  const rounded = (positions: number) => Math.ceil(positions / step) * step;
  const takenBy = (positions: number) => (sparse ? rounded(positions) : capacity);

  /** Copies the rows of an array with room for `before` positions per row into a new one. */
  const moved = (
    old: KeyValueArray,
    before: number,
    from: readonly number[],
    positions: readonly number[],
  ): KeyValueArray => {
    const array = keyValues.allocate(rows * heads * capacity * headSize);
    from.forEach((row, target) => {
      if (row < 0) return;
      const kept = Math.min(before, capacity, positions[target]!);
      copyRow(
        shape,
        { array: old, capacity: before, row, at: 0 },
        { array, capacity, row: target, at: 0 },
        kept,
      );
    });
    return array;
  };

  const resize = (
    from: readonly number[],
    positions: readonly number[],
    nextRows: number,
    nextCapacity: number,
  ) => {
    const before = capacity;
    rows = nextRows;
    capacity = nextCapacity;
    viewed = undefined;
    try {
      all.forEach((old, index) => {
        all[index] = moved(old, before, from, positions);
        keyValues.release(old);
      });
      taken = positions.map(takenBy);
    } catch (error) {
      // If there is no memory for an array, those before and after it have different sizes.
      [rows, capacity, taken] = [0, 0, []];
      for (const array of all) keyValues.release(array);
      all.fill(emptyArray());
      throw error;
    }
  };

  const giveBack = (start: number, end: number) => {
    const size = heads * capacity * headSize;
    for (const array of all) keyValues.forget?.(array.subarray(start * size, end * size));
  };
  /** Releases the memory of rows from a number on, but keeps their room. */
  const forgetFrom = (row: number) => {
    if (taken.length <= row) return;
    giveBack(row, taken.length);
    taken = taken.slice(0, row);
  };

  return {
    rows: () => rows,
    capacity: () => capacity,
    bytes(positions = []) {
      let total = 0;
      for (let row = 0; row < Math.max(taken.length, positions.length); row++) {
        total += Math.max(taken[row] ?? 0, row < positions.length ? takenBy(positions[row]!) : 0);
      }
      return total * bytesOfPosition;
    },
    arrange(from, positions, room = longest(positions)) {
      const wanted = rounded(room);
      const keepsCapacity = wanted <= capacity && (sparse || wanted > capacity / 2);
      const isFew = from.length <= rows / 4;
      const keepsRows = from.length <= rows && (!isFew || isRoomy);
      const changed = [...from.keys()].filter((row) => from[row]! >= 0 && from[row] !== row);
      if (keepsCapacity && keepsRows && !changed.some((row) => from.includes(row))) {
        for (const target of changed) {
          const place = { ...everything(), capacity, at: 0 };
          copyPositions(
            shape,
            { ...place, row: from[target]! },
            { ...place, row: target },
            positions[target]!,
          );
        }
        if (isFew) forgetFrom(from.length);
        positions.forEach((count, row) => {
          taken[row] = Math.max(taken[row] ?? 0, takenBy(count));
        });
        return;
      }
      // Future rows cost nothing before the first write, unless passes touch all of them.
      const more = Math.max(isRoomy ? roomyRows : 0, Math.ceil((sparse ? 4 : 1.5) * rows));
      const spare = keepsRows ? rows : from.length < rows ? 0 : more;
      resize(from, positions, Math.max(from.length, spare), keepsCapacity ? capacity : wanted);
    },
    trim(from, positions) {
      const nextCapacity = rounded(longest(positions));
      const isTrim =
        from.every((row, target) => row === target) &&
        (sparse || nextCapacity === capacity) &&
        taken.every((count, row) => count === (row < positions.length ? takenBy(positions[row]!) : 0));
      if (!isTrim) resize(from, positions, from.length, nextCapacity);
    },
    ...(isRoomy && {
      forget(row: number) {
        giveBack(row, row + 1);
        taken[row] = 0;
      },
    }),
    view(start, end) {
      // Needed at each step, and almost always unchanged.
      if (viewed?.start === start && viewed.end === end) return viewed.view;
      const row = heads * capacity * headSize;
      const cut = all.map((array) => array.subarray(start * row, end * row));
      const view = { keys: cut.slice(0, layers), values: cut.slice(layers) };
      viewed = { start, end, view };
      return view;
    },
    cut(row, at, count) {
      const size = heads * count * headSize;
      const numbers = keyValueArray(keyValues.type, 2 * layers * size); // one, as creation costs more than filling
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

/** Returns the largest number; 0 without numbers. */
export function longest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}
