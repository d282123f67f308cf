import { exp, mul, sub } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { argMax, reduceMax, softmax } from "../onnx/reductions.ts";
import { reshape } from "../onnx/shaping.ts";

/**
 * What sampling asks of logits [batch, vocabulary], as outputs of the graph: `logits`; `likeliest` [batch], and its
 * probability in `certainties` [batch]; and `weights` [batch, vocabulary], e^((l − largest l) / T), for the input
 * `inverseTemperatures` [batch, 1]. Exponentials of a whole vocabulary cost less here than in JavaScript. (A sum or a
 * logarithm outside of a softmax would round differently for one row than for several.)
 */
export function nextTokenOutputs(logits: FloatValue): void {
  const { graph } = logits;
  const inverseTemperatures = graph.input("inverseTemperatures", "float32", ["batch", 1]);
  const centered = sub(logits, reduceMax(logits));
  graph.output("logits", logits);
  graph.output("likeliest", argMax(logits));
  graph.output("certainties", reshape(reduceMax(softmax(logits)), ["batch"]));
  graph.output("weights", exp(mul(centered, inverseTemperatures)));
}
