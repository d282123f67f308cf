import { batchIndices } from "../../base/random/batch-indices.ts";
import { permutation } from "../../base/random/permutation.ts";
import type { Plan } from "../../contracts/plan.ts";

/** The trained and the held-out rows of a plan's examples, both in the order of the file. */
export interface ExampleRows {
  trained: number[];
  heldOut: number[];
  /**
   * The place of each row in the order in which steps first need it: held-out rows first, then the first
   * epoch. The map has the same order.
   */
  places: ReadonlyMap<number, number>;
}

/** The purpose of the random draws that order an epoch. They also depend on the seed. */
export const examplesPurpose = "examples";

/** Draws the held-out rows by the seed. */
export function exampleRows(
  { seed, sft, dpo }: Pick<Plan, "seed" | "sft" | "dpo">,
  rows: number,
): ExampleRows {
  const { heldOut = 0 } = dpo ?? sft ?? {};
  const drawn = new Set(permutation(rows, seed, "held-out examples").slice(0, heldOut));
  const all = Array.from({ length: rows }, (_, row) => row);
  const trained = all.filter((row) => !drawn.has(row));
  const held = all.filter((row) => drawn.has(row));
  const { length } = trained;
  const firstEpoch = batchIndices({ length, size: length, number: 0, seed, purpose: examplesPurpose });
  const wanted = [...held, ...firstEpoch.map((index) => trained[index]!)];
  return { trained, heldOut: held, places: new Map(wanted.map((row, place) => [row, place])) };
}
