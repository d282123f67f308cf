import { createUniformStream } from "../sampling/random.ts";

/** The numbers 0 … count − 1 in a random order that depends on seed, step and epoch alone. */
export function shuffledOrder(count: number, seed: number, step: number, epoch: number): number[] {
  const uniform = createUniformStream({ seed, trajectory: `shuffle/${step}`, turn: epoch });
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(uniform(last) * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}
