import { mul, negate } from "../onnx/elementwise.ts";
import { reduceSum } from "../onnx/reductions.ts";
import { type Objective, wanted } from "./objective.ts";

/** Supervised fine-tuning: the cross entropy (nats) of the marked tokens, weighted by the token input `weights`. */
export const supervisedObjective: Objective = {
  inputs: { weights: "token" },
  wants: { values: false, entropies: false },
  build: ({ logProbabilities }, then) => ({
    loss: negate(reduceSum(mul(wanted(logProbabilities, "logProbabilities"), then("weights")))),
    terms: {},
  }),
};
