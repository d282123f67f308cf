import type { Plan } from "../contracts/plan.ts";
import { permutation } from "../random/permutation.ts";

/** Which rows of a plan's examples are trained on, and which are held out. */
export interface ExampleRows {
  trained: number[];
  heldOut: number[];
}

/** Draws them by the seed; both are in the order of the file. */
export function exampleRows(
  { seed, sft, dpo }: Pick<Plan, "seed" | "sft" | "dpo">,
  rows: number,
): ExampleRows {
  const { heldOut = 0 } = dpo ?? sft ?? {};
  const drawn = new Set(permutation(rows, seed, "held-out examples").slice(0, heldOut));
  const all = Array.from({ length: rows }, (_, row) => row);
  return { trained: all.filter((row) => !drawn.has(row)), heldOut: all.filter((row) => drawn.has(row)) };
}
