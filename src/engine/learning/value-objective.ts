import { mul } from "../onnx/elementwise.ts";
import { reduceSum } from "../onnx/reductions.ts";
import { type Objective, wanted } from "./objective.ts";
import { clippedValueLosses } from "./policy-loss.ts";

/**
 * Returns the objective of a separate critic: the value loss of action tokens, weighted by `weights`. Term:
 * `valueLoss`.
 */
export function valueObjective(clip: number): Objective {
  return {
    inputs: { weights: "token", oldValues: "token", returns: "token" },
    wants: { values: true, entropies: false },
    build({ values }, then) {
      const losses = clippedValueLosses(wanted(values, "values"), then("oldValues"), then("returns"), clip);
      const valueLoss = reduceSum(mul(losses, then("weights")));
      return { loss: valueLoss, terms: { valueLoss } };
    },
  };
}
