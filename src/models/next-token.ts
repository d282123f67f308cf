import { mul } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { argMax, reduceMax, softmax } from "../onnx/reductions.ts";

/**
 * What sampling asks of logits [batch, vocabulary], as outputs of the graph: `logits`; `likeliest` [batch], and its
 * probability in `certainties` [batch, 1]; and `weights` [batch, vocabulary], probabilities at the temperature T, for
 * the input `inverseTemperatures` [batch, 1] = 1 / T. Exponentials of a whole vocabulary cost less here than in
 * JavaScript. (A sum or a logarithm outside of a softmax would round differently for one row than for several.)
 */
export function nextTokenOutputs(logits: FloatValue): void {
  const { graph } = logits;
  const inverseTemperatures = graph.input("inverseTemperatures", "float32", ["batch", 1]);
  graph.output("logits", logits);
  graph.output("likeliest", argMax(logits));
  graph.output("certainties", reduceMax(softmax(logits)));
  graph.output("weights", softmax(mul(logits, inverseTemperatures)));
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
