import { expect, test } from "vitest";
import { batchesOfIndices, batchIndices } from "../../../../src/base/random/batch-indices.ts";

const options = { length: 10, size: 4, seed: 1, purpose: "tasks" };
const drawn = (batches: number, changes = {}) =>
  Array.from({ length: batches }, (_, number) => batchIndices({ ...options, ...changes, number })).flat();

test("each epoch holds every item once, also where a batch spans two epochs", () => {
  const indices = drawn(5);
  const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(indices.slice(0, 10).sort()).toEqual(all);
  expect(indices.slice(10).sort()).toEqual(all);
  expect(indices.slice(0, 10)).not.toEqual(indices.slice(10));
});

test("any batch can be drawn alone, and again", () => {
  expect(batchIndices({ ...options, number: 3 })).toEqual(drawn(5).slice(12, 16));
  const batches = batchesOfIndices({ ...options, from: 1, to: 4 });
  expect(batches.map(({ length }) => length)).toEqual([4, 4, 4]);
  expect(batches.flat()).toEqual(drawn(5).slice(4, 16));
});

test("another seed or purpose gives another order", () => {
  expect(drawn(2, { seed: 2 })).not.toEqual(drawn(2));
  expect(drawn(2, { purpose: "demonstrations" })).not.toEqual(drawn(2));
});

test("a batch larger than the data set goes round", () => {
  const indices = batchIndices({ ...options, length: 3, size: 7, number: 0 });
  expect(indices.slice(0, 3).sort()).toEqual([0, 1, 2]);
  expect(indices.slice(3, 6).sort()).toEqual([0, 1, 2]);
  expect(indices).toHaveLength(7);
});
