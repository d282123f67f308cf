import { expect, test } from "vitest";
import { permutation } from "../../../../src/base/random/permutation.ts";

test("holds every number once, in an order that seed and purpose decide", () => {
  const order = permutation(100, 1, "tasks/0");
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(permutation(100, 1, "tasks/0")).toEqual(order);
  expect(permutation(100, 2, "tasks/0")).not.toEqual(order);
  expect(permutation(100, 1, "tasks/1")).not.toEqual(order);
  expect(permutation(0, 1, "tasks/0")).toEqual([]);
});

test("every item comes first about as often as any other", () => {
  const firsts = Array.from({ length: 3000 }, (_, seed) => permutation(5, seed, "tasks/0")[0]);
  for (const item of [0, 1, 2, 3, 4]) {
    const share = firsts.filter((first) => first === item).length / 3000;
    expect(share).toBeGreaterThan(0.17);
    expect(share).toBeLessThan(0.23);
  }
});
