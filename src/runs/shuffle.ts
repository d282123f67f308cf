import { createUniformStream } from "../sampling/random.ts";

/** A permutation of 0…length−1 (Fisher–Yates), the same for the same seed and purpose. */
export function permutation(length: number, seed: number, purpose: string): number[] {
  const uniform = createUniformStream({ seed, trajectory: purpose, turn: 0 });
  const order = Array.from({ length }, (_, index) => index);
  for (let last = length - 1; last > 0; last--) {
    const other = Math.floor(uniform(last) * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}

/**
 * Which of `length` items batch `number` (from 0) holds: epochs follow each other, each in an order of its own, and
 * no item comes twice in an epoch. A function of its arguments alone, so that no cursor can be lost.
 */
export function batchIndices(options: {
  length: number;
  size: number;
  number: number;
  seed: number;
  purpose: string;
}): number[] {
  const { length, size, number, seed, purpose } = options;
  const orders = new Map<number, number[]>();
  return Array.from({ length: size }, (_, position) => {
    const drawn = number * size + position;
    const epoch = Math.floor(drawn / length);
    const order = orders.get(epoch) ?? permutation(length, seed, `${purpose}/${epoch}`);
    orders.set(epoch, order);
    return order[drawn % length] ?? 0;
  });
}
