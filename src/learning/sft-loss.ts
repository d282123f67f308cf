import { negate } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { reduceMean } from "../onnx/reductions.ts";

/** The mean cross entropy (nats) of the tokens whose log-probabilities [rows] these are. */
export function supervisedLoss(logProbabilities: FloatValue): FloatValue {
  return negate(reduceMean(logProbabilities));
}
