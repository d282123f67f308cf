import type { Plan } from "../contracts/plan.ts";
import { endlessOrder } from "../random/batch-indices.ts";
import { permutation } from "../random/permutation.ts";

/** Which rows of a plan's examples are trained on, and which are held out; both in the order of the file. */
export interface ExampleRows {
  trained: number[];
  heldOut: number[];
  /** All of them, those that steps want first before others: what is held out, then the first epoch. */
  wanted: number[];
}

/** What the order of an epoch is drawn for, beside the seed. */
export const examplesPurpose = "examples";

/** Draws them by the seed. */
export function exampleRows(
  { seed, sft, dpo }: Pick<Plan, "seed" | "sft" | "dpo">,
  rows: number,
): ExampleRows {
  const { heldOut = 0 } = dpo ?? sft ?? {};
  const drawn = new Set(permutation(rows, seed, "held-out examples").slice(0, heldOut));
  const all = Array.from({ length: rows }, (_, row) => row);
  const trained = all.filter((row) => !drawn.has(row));
  const held = all.filter((row) => drawn.has(row));
  const firstEpoch = endlessOrder({ length: trained.length, seed, purpose: examplesPurpose });
  return {
    trained,
    heldOut: held,
    wanted: [...held, ...trained.map((_, draw) => trained[firstEpoch(draw)]!)],
  };
}
