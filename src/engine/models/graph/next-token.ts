import { mul } from "../../onnx/elementwise.ts";
import type { FloatValue } from "../../onnx/graph.ts";
import { argMax, reduceMax, reduceSum, softmax } from "../../onnx/reductions.ts";
import { reshape } from "../../onnx/shaping.ts";

/**
 * What sampling asks of logits [batch, vocabulary], as outputs of the graph: `logits`; `likeliest` [batch], and its
 * probability in `certainties` [batch, 1]; and `weights` [batch, vocabulary], probabilities at the temperature T, for
 * the input `inverseTemperatures` [batch, 1] = 1 / T. Exponentials of a whole vocabulary cost less here than in
 * JavaScript. (A sum or a logarithm outside of a softmax would round differently for one row than for several.)
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

/** Which of `nextTokenOutputs` have what is wanted of a row. */
export const outputsFor = {
  choice: ["likeliest", "certainties"],
  logits: ["logits"],
  weights: ["weights"],
  draw: ["weights"],
} as const;

/** Parts of a vocabulary of so many tokens, of equal length; the last may reach beyond it. */
export function vocabularyParts(vocabulary: number): { count: number; length: number } {
  const length = 2 ** Math.ceil(Math.log2(Math.sqrt(vocabulary)));
  return { count: Math.ceil(vocabulary / length), length };
}

/**
 * The same for a card, from which a whole vocabulary takes long to fetch: with `peaks` [batch, 1], the largest weights, and
 * `sums` [batch, parts] of the weights in each of `vocabularyParts`. They tell in which part a draw falls.
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
 * The same where outputs lie in memory of the caller's: `logits` and `probabilities` [batch, vocabulary]. Finding the
 * likeliest costs less in JavaScript; other temperatures than 1 are the business of `createTemperedWeights`.
 */
export function boundNextTokenOutputs(logits: FloatValue): void {
  const { graph } = logits;
  graph.output("logits", logits);
  graph.output("probabilities", softmax(logits));
}
