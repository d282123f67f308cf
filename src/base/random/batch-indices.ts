import { permutation } from "./permutation.ts";

/** The inputs of a draw. */
interface Draws {
  length: number;
  size: number;
  seed: number;
  purpose: string;
}

/**
 * The items, out of `length`, in batch `number` (from 0). Each epoch has its own order, and no item repeats within
 * an epoch. It depends only on its arguments, so there is no cursor to lose.
 */
export function batchIndices({ number, ...draws }: Draws & { number: number }): number[] {
  return batchesOfIndices({ ...draws, from: number, to: number + 1 }).flat();
}

/** Batches `from` (inclusive) to `to` (exclusive). */
export function batchesOfIndices(options: Draws & { from: number; to: number }): number[][] {
  const { size, from, to } = options;
  const indexOf = endlessOrder(options);
  return Array.from({ length: to - from }, (_, batch) =>
    Array.from({ length: size }, (_item, position) => indexOf((from + batch) * size + position)),
  );
}

/**
 * Returns a function that maps a draw (from 0) to one of `length` items. It orders each epoch only once, because
 * that is slow.
 */
export function endlessOrder({ length, seed, purpose }: Omit<Draws, "size">): (draw: number) => number {
  const orders = new Map<number, number[]>();
  return (draw) => {
    const epoch = Math.floor(draw / length);
    const order = orders.get(epoch) ?? permutation(length, seed, `${purpose}/${epoch}`);
    orders.set(epoch, order);
    return order[draw % length]!;
  };
}
