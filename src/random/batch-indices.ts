import { permutation } from "./permutation.ts";

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
    return order[drawn % length]!;
  });
}
