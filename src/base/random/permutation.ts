import { createUniformStream } from "./uniform-stream.ts";

/** A random permutation of 0 … `length` − 1 (Fisher–Yates) that depends only on the seed and the purpose. */
export function permutation(length: number, seed: number, purpose: string): number[] {
  const uniform = createUniformStream({ seed, trajectory: purpose, turn: 0 });
  const order = Array.from({ length }, (_, index) => index);
  for (let last = length - 1; last > 0; last--) {
    const other = Math.floor(uniform(last) * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}
