import { mul } from "../../onnx/elementwise.ts";
import type { FloatValue } from "../../onnx/graph.ts";
import { argMax, reduceMax, reduceSum, softmax } from "../../onnx/reductions.ts";
import { reshape } from "../../onnx/shaping.ts";

/**
 * Adds outputs for sampling from logits [batch, vocabulary]: `logits`; `likeliest` [batch] and its probability in
 * `certainties` [batch, 1]; and `weights` [batch, vocabulary], probabilities at the temperature T, for the input
 * `inverseTemperatures` [batch, 1] = 1 / T. Exponentials of a whole vocabulary cost less here than in JavaScript. A sum
 * or a logarithm outside of a softmax would round differently for one row than for several.
 */
export function nextTokenOutputs(logits: FloatValue): { weights: FloatValue } {
  const { graph } = logits;
  const inverseTemperatures = graph.input("inverseTemperatures", "float32", ["batch", 1]);
  graph.output("logits", logits);
  graph.output("likeliest", argMax(logits));
  graph.output("certainties", reduceMax(softmax(logits)));
  const weights = softmax(mul(logits, inverseTemperatures));
  graph.output("weights", weights);
  return { weights };
}

/** The outputs of `nextTokenOutputs` for each requested kind. */
export const outputsFor = {
  choice: ["likeliest", "certainties"],
  logits: ["logits"],
  weights: ["weights"],
  draw: ["weights"],
} as const;

/** Splits a vocabulary into parts of equal length. The last may extend beyond it. */
export function vocabularyParts(vocabulary: number): { count: number; length: number } {
  const length = 2 ** Math.ceil(Math.log2(Math.sqrt(vocabulary)));
  return { count: Math.ceil(vocabulary / length), length };
}

/**
 * Adds such outputs for a card, from which fetching a whole vocabulary takes long. Also outputs `peaks` [batch, 1], the
 * largest weights, and `sums` [batch, parts] of the weights in each of `vocabularyParts`. They determine the part that
 * a draw falls into.
 */
export function cardNextTokenOutputs(logits: FloatValue, vocabulary: number): void {
  const { graph } = logits;
  const { weights } = nextTokenOutputs(logits);
  const { count, length } = vocabularyParts(vocabulary);
  const after = graph.ints([0, 0, 0, count * length - vocabulary]);
  const padded = { dtype: "float32", shape: ["batch", count * length] } as const;
  const whole = count * length === vocabulary ? weights : graph.emit("Pad", [weights, after], padded);
  graph.output("peaks", reduceMax(weights));
  graph.output("sums", reduceSum(reshape(whole, ["batch", count, length]), [2]));
}

/**
 * Adds such outputs for memory of the caller's: `logits` and `probabilities` [batch, vocabulary]. Finding the likeliest
 * costs less in JavaScript. `createTemperedWeights` handles temperatures other than 1.
 */
export function boundNextTokenOutputs(logits: FloatValue): void {
  const { graph } = logits;
  graph.output("logits", logits);
  graph.output("probabilities", softmax(logits));
}
