import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { onProcessor, processorMemory } from "../../../../src/engine/models/decode/key-value-memory.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";
import { createKeyValueCache, type KeyValueCache } from "../../../../src/engine/sampling/key-value-cache.ts";

const shape = {
  layers: 2,
  heads: 2,
  headSize: 2,
  step: 32,
  sparse: false,
  keyValues: processorMemory("float32"),
} as const;

/** What is large enough for its memory to be seen. */
const large = { ...shape, layers: 8, heads: 4, headSize: 32, step: 64 };

/** Keys and values of one row, `length` positions; each number tells its layer, head, position and index. */
function fresh(length: number, offset: number) {
  const layer = (base: number) =>
    Float32Array.from({ length: 2 * length * 2 }, (_, i) => {
      const head = Math.floor(i / (length * 2));
      const position = Math.floor(i / 2) % length;
      return offset + base + 1000 * head + 10 * position + (i % 2);
    });
  return { keys: [layer(1e4), layer(2e4)], values: [layer(3e4), layer(4e4)] };
}

/** So many positions for each row. */
function each(positions: number, rows: number): number[] {
  return Array.from({ length: rows }, () => positions);
}

/** The first `count` positions of a row and head of a layer's keys. */
function keysOf(cache: KeyValueCache, row: number, head: number, count: number) {
  const start = head * cache.capacity() * 2;
  return [...onProcessor(cache.view(row, row + 1).keys[1]!).subarray(start, start + count * 2)];
}

test("keeps positions while it grows, shrinks and moves rows", () => {
  const cache = createKeyValueCache(shape);
  expect(cache.view(0, 0).keys[0]).toHaveLength(0);
  cache.arrange([-1, -1, -1], each(3, 3));
  expect(cache.capacity()).toBe(32);
  cache.write(1, 0, fresh(4, 0), { row: 0, length: 4, count: 3 });
  cache.arrange([0, 1, 2], each(200, 3));
  cache.write(1, 3, fresh(1, 500), { row: 0, length: 1, count: 1 });
  const expected = [21000, 21001, 21010, 21011, 21020, 21021, 21500, 21501];
  expect(cache.capacity()).toBe(224);
  expect(keysOf(cache, 1, 1, 4)).toEqual(expected);
  cache.arrange([1, -1], each(200, 2));
  cache.arrange([0, 1], each(113, 2));
  expect(cache.capacity()).toBe(224);
  cache.arrange([0, 1], each(4, 2));
  expect(cache.capacity()).toBe(32);
  expect(keysOf(cache, 0, 1, 4)).toEqual(expected);
});

test("rows change places with each other", () => {
  const cache = createKeyValueCache(shape);
  cache.arrange([-1, -1, -1], each(1, 3));
  for (const row of [0, 1, 2]) {
    cache.write(row, 0, fresh(1, row), { row: 0, length: 1, count: 1 });
  }
  cache.arrange([1, 2, 0], each(1, 3));
  expect([0, 1, 2].map((row) => keysOf(cache, row, 0, 1)[0])).toEqual([20001, 20002, 20000]);
  cache.arrange([], []);
  expect([cache.rows(), cache.capacity()]).toEqual([0, 0]);
});

test("a view holds its rows, without copying", () => {
  const cache = createKeyValueCache(shape);
  cache.arrange([-1, -1, -1], each(1, 3));
  const view = cache.view(1, 3);
  expect(view.values[0]).toHaveLength(2 * 2 * 32 * 2);
  cache.write(1, 0, fresh(1, 7), { row: 0, length: 1, count: 1 });
  expect(onProcessor(view.values[0]!)[0]).toBe(30007);
});

test("while it grows, it holds no second copy of all", () => {
  const cache = createKeyValueCache({ ...large, sparse: false });
  const rows = [0, 1, 2, 3, 4, 5, 6, 7];
  cache.arrange(
    rows.map(() => -1),
    each(2048, 8),
  );
  const filled = cache.view(0, 8);
  [...filled.keys, ...filled.values].forEach((array, index) => void onProcessor(array).fill(index + 1));
  const [megabytes, before] = [cache.bytes() / 2 ** 20, process.resourceUsage().maxRSS / 2 ** 10];
  expect(megabytes).toBe(128);
  cache.arrange(rows, each(3072, 8));
  expect(cache.bytes() / 2 ** 20).toBe(192);
  expect(process.resourceUsage().maxRSS / 2 ** 10 - before).toBeLessThan(64 + 40);
  const { keys, values } = cache.view(7, 8);
  [...keys, ...values].map(onProcessor).forEach((array, index) => {
    expect([array[0], array[2047 * 32], array[2048 * 32]]).toEqual([index + 1, index + 1, 0]);
  });
});

test("room for rows to come is given back when asked", () => {
  const cache = createKeyValueCache(shape);
  const rows = (count: number) => [...Array(count).keys()];
  cache.arrange(rows(4), each(20, 4));
  cache.arrange(rows(5), each(20, 5));
  expect([cache.rows(), cache.capacity()]).toEqual([6, 32]);
  cache.write(1, 0, fresh(4, 0), { row: 0, length: 4, count: 3 });
  cache.trim([0, 1], [3, 3]);
  expect([cache.rows(), cache.capacity(), cache.bytes()]).toEqual([2, 32, 2 * 2 * 2 * 2 * 32 * 2 * 4]);
  expect(keysOf(cache, 1, 1, 3)).toEqual([21000, 21001, 21010, 21011, 21020, 21021]);
});

test("in a sparse cache a row takes what it has, rounded up, and what was taken stays until it is trimmed", () => {
  const cache = createKeyValueCache({ ...shape, sparse: true });
  const positions = () => cache.bytes() / (2 * 2 * 2 * 2 * 4);
  cache.arrange([-1, -1], [20, 100], 500);
  expect([cache.capacity(), positions()]).toEqual([512, 32 + 128]);
  expect(cache.bytes([300]) / (2 * 2 * 2 * 2 * 4)).toBe(320 + 128);
  cache.write(1, 0, fresh(4, 0), { row: 0, length: 4, count: 3 });
  cache.arrange([1], [3]);
  expect(positions()).toBe(32 + 128);
  cache.trim([0], [3]);
  expect(positions()).toBe(32);
  expect(keysOf(cache, 0, 1, 3)).toEqual([21000, 21001, 21010, 21011, 21020, 21021]);
});

test("room that no row has written to takes no memory", () => {
  const cache = createKeyValueCache({ ...large, sparse: true });
  const before = process.resourceUsage().maxRSS / 2 ** 10;
  cache.arrange([-1, -1, -1, -1], [64, 64, 64, 64], 2 ** 15);
  const { keys } = cache.view(0, 4);
  for (const array of keys) onProcessor(array)[2 ** 14] = 1;
  expect(keys[0]!.byteLength * 16).toBe(2 ** 30);
  expect(process.resourceUsage().maxRSS / 2 ** 10 - before).toBeLessThan(64);
});

test.runIf(process.platform === "linux")(
  "rows that leave give their memory back where they are, without moving the others",
  async () => {
    const runtime = await runtimeFunctions();
    const keyValues = processorMemory("float32", runtime!.memoryAdvice);
    const cache = createKeyValueCache({ ...large, sparse: true, keyValues });
    const rows = [...Array(32).keys()];
    cache.arrange(
      rows.map(() => -1),
      each(512, 32),
    );
    const arrays = cache.view(0, 32).keys.map(onProcessor);
    for (const array of arrays) array.fill(1);
    const [before, taken] = [process.memoryUsage.rss(), cache.bytes()];
    cache.arrange([31, 1], each(512, 2));
    expect(before - process.memoryUsage.rss()).toBeGreaterThan(50 * 2 ** 20);
    expect([cache.rows(), cache.bytes()]).toEqual([32, taken / 16]);
    const places = arrays.map((array) => [array[0], array[2 * 4 * 512 * 32 - 1], array[20 * 4 * 512 * 32]]);
    expect(places).toEqual(arrays.map(() => [1, 1, 0]));
    expect(onProcessor(cache.view(0, 1).keys[0]!).buffer).toBe(arrays[0]!.buffer);
  },
);

test.runIf(process.platform === "linux")(
  "memory that was used before is room again, by small pages",
  async () => {
    const runtime = await runtimeFunctions();
    const array = new Float32Array(2 ** 24).fill(0);
    const before = process.memoryUsage.rss();
    runtime!.memoryAdvice!.makeSparse(array);
    expect((before - process.memoryUsage.rss()) / 2 ** 20).toBeGreaterThan(48);
    expect(array.every((number) => number === 0)).toBe(true);
    const areas = (await readFile("/proc/self/smaps", "utf8")).split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/);
    const asked = areas.filter((area) => /VmFlags:.* nh/.test(area));
    const sizes = asked.map((area) => Number(/Size: +(\d+) kB/.exec(area)?.[1]) / 2 ** 10);
    expect(sizes.some((size) => Math.abs(size - 64) < 1)).toBe(true);
  },
);
