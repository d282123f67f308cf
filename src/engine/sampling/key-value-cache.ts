import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import { copyPositions, copyRow } from "../models/decode/copy-positions.ts";
import type { KeyValueMemory } from "../models/decode/key-value-memory.ts";
import { type KeyValueArray, type KeyValues, keyValueArray } from "../models/decode/key-values.ts";
import { elementBytes } from "../onnx/element-bytes.ts";

/** Keys and values of all layers for rows of sequences; layer by layer one array, [rows, heads, capacity, size]. */
export interface KeyValueCache {
  /** Rows that there is room for now. */
  rows(): number;
  /** Positions that each row has room for now. */
  capacity(): number;
  /** Bytes that it takes, were its first rows to have so many positions (default: as they have now). */
  bytes(positions?: readonly number[]): number;
  /**
   * Makes row i what row from[i] was (−1: anything), with `positions[i]` of its positions, and with room for `room`
   * of them (default: the most of a row). Where there is room already, only rows that change their place are copied.
   * Old and new memory are held together for one array at a time.
   */
  arrange(from: readonly number[], positions: readonly number[], room?: number): void;
  /** Makes row i what row from[i] was, with `positions[i]` of its positions, and gives back all else. */
  trim(from: readonly number[], positions: readonly number[]): void;
  /** Gives back what a row has taken, which is zeros then, without moving the others; undefined where that can't be done. */
  forget?(row: number): void;
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
  /** Capacities are multiples of this, and memory is counted by so many positions. */
  step: number;
  /**
   * Whether runs touch no more than the positions that rows have. Then room beyond costs nothing, as the system gives
   * memory by the page, when it is first written to. Else rows have all their room.
   */
  sparse: boolean;
  /** What its arrays lie in. */
  keyValues: KeyValueMemory;
}

/** Which part of other keys and values to take. */
export interface FreshRow {
  row: number;
  length: number;
  count: number;
}

/** Rows that there is room for at least, where it costs nothing. */
const roomyRows = 16;

/** An empty cache for the keys and values of a decoder. */
export function createDecoderCache({
  config,
  capacityStep: step,
  isSparse: sparse,
  keyValues,
}: CachedDecoder): KeyValueCache {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: headSize } = config;
  return createKeyValueCache({ layers, heads, headSize, step, sparse, keyValues });
}

/** An empty cache. */
export function createKeyValueCache(shape: CacheShape): KeyValueCache {
  const { layers, heads, headSize, step, sparse, keyValues } = shape;
  const bytesOfPosition = 2 * layers * heads * headSize * elementBytes[keyValues.type];
  /** Whether room costs nothing, and what rows have taken can be given back without moving the others. */
  const isRoomy = sparse && keyValues.forget !== undefined;
  const emptyArray = () => keyValueArray(keyValues.type, 0);
  let capacity = 0;
  let rows = 0;
  /** Positions of each row that memory was taken for. */
  let taken: number[] = [];
  /** Keys of all layers, then values. */
  const all = Array.from({ length: 2 * layers }, (): KeyValueArray => emptyArray());
  let viewed: { start: number; end: number; view: KeyValues } | undefined;

  const everything = (): KeyValues => ({ keys: all.slice(0, layers), values: all.slice(layers) });
  const rounded = (positions: number) => Math.ceil(positions / step) * step;
  const takenBy = (positions: number) => (sparse ? rounded(positions) : capacity);

  /** Where rows of an array go that had room for `before` positions a row. */
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
      // Without memory for an array, those before it are of another size than those after it.
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
  /** Gives back what rows from a number on have taken, which leaves their room where it is. */
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
      // Rows to come cost nothing before they are written to, but where runs touch all that there is.
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
      const numbers = keyValueArray(keyValues.type, 2 * layers * size); // one: to make an array costs more than to fill it
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

/** The most of some numbers; 0 of none. */
export function longest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}
