import { createUniformStream } from "./uniform-stream.ts";

/** The numbers 0 … `length` − 1 in a random order (Fisher–Yates) that depends on seed and purpose alone. */
export function permutation(length: number, seed: number, purpose: string): number[] {
  const uniform = createUniformStream({ seed, trajectory: purpose, turn: 0 });
  const order = Array.from({ length }, (_, index) => index);
  for (let last = length - 1; last > 0; last--) {
    const other = Math.floor(uniform(last) * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}
