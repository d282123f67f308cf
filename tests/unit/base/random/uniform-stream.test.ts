import { expect, test } from "vitest";
import { createUniformStream, philox } from "../../../../src/base/random/uniform-stream.ts";

const key = { seed: 1, trajectory: "run/step-0001/task-7/0", turn: 0 };

test("Philox gives the known answers of its authors' test suite", () => {
  const ones = 0xffffffff;
  expect(philox([0, 0, 0, 0], 0, 0)).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
  expect(philox([ones, ones, ones, ones], ones, ones)).toEqual([
    0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
  ]);
  expect(philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], 0xa4093822, 0x299f31d0)).toEqual([
    0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1,
  ]);
});

test("a position's number depends on nothing but key and position", () => {
  const forward = createUniformStream(key);
  const backward = createUniformStream({ ...key });
  const numbers = Array.from({ length: 50 }, (_, position) => forward(position));
  for (let position = 49; position >= 0; position--) expect(backward(position)).toBe(numbers[position]);
  expect(new Set(numbers).size).toBe(50);
});

test("seed, trajectory and turn each change every number", () => {
  const others = [
    { ...key, seed: 2 },
    { ...key, trajectory: "run/step-0001/task-7/1" },
    { ...key, turn: 1 },
  ];
  for (const other of others) {
    for (let position = 0; position < 20; position++) {
      expect(createUniformStream(other)(position)).not.toBe(createUniformStream(key)(position));
    }
  }
});

test("the numbers are uniform along a trajectory and across trajectories", () => {
  const along = Array.from({ length: 20_000 }, (_, position) => createUniformStream(key)(position));
  const across = Array.from({ length: 20_000 }, (_, i) =>
    createUniformStream({ ...key, trajectory: `t${i}` })(0),
  );
  for (const numbers of [along, across]) {
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(chiSquare(numbers, 100)).toBeLessThan(149); // 99 degrees of freedom: exceeded once in a thousand
    expect(Math.abs(correlation(numbers.slice(1), numbers.slice(0, -1)))).toBeLessThan(0.025);
  }
  expect(Math.abs(correlation(along, across))).toBeLessThan(0.025);
});

function chiSquare(numbers: number[], bins: number): number {
  const counts = new Array<number>(bins).fill(0);
  for (const number of numbers) counts[Math.floor(number * bins)]! += 1;
  const expected = numbers.length / bins;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

function correlation(left: number[], right: number[]): number {
  const products = left.map((value, i) => (value - 0.5) * (right[i]! - 0.5));
  return (12 * products.reduce((sum, product) => sum + product, 0)) / products.length;
}
