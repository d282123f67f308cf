import { permutation } from "./permutation.ts";

/** What draws are made of. */
interface Draws {
  length: number;
  size: number;
  seed: number;
  purpose: string;
}

/**
 * Which of `length` items batch `number` (from 0) holds: epochs follow each other, each in an order of its own, and
 * no item comes twice in an epoch. A function of its arguments alone, so that no cursor can be lost.
 */
export function batchIndices({ number, ...draws }: Draws & { number: number }): number[] {
  return batchesOfIndices({ ...draws, from: number, to: number + 1 }).flat();
}

/** Batches `from` to `to`, the latter left out. */
export function batchesOfIndices(options: Draws & { from: number; to: number }): number[][] {
  const { size, from, to } = options;
  const indexOf = endlessOrder(options);
  return Array.from({ length: to - from }, (_, batch) =>
    Array.from({ length: size }, (_, position) => indexOf((from + batch) * size + position)),
  );
}

/** Which of `length` items each draw (from 0) is. To order an epoch takes a while, so each is ordered once. */
export function endlessOrder({ length, seed, purpose }: Omit<Draws, "size">): (draw: number) => number {
  const orders = new Map<number, number[]>();
  return (draw) => {
    const epoch = Math.floor(draw / length);
    const order = orders.get(epoch) ?? permutation(length, seed, `${purpose}/${epoch}`);
    orders.set(epoch, order);
    return order[draw % length]!;
  };
}
