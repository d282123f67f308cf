import { add, div, mul, sqrt, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, graphError } from "./graph.ts";
import { reduceMean, reduceSum } from "./reductions.ts";

/**
 * Root-mean-square normalisation of each row of x [rows, size], times weight [size] (arXiv 1910.07467). Made of
 * primitives: the second output of the runtime's own operator looked wrong on WebGPU.
 */
export function rmsNorm(x: FloatValue, weight: FloatValue, epsilon: number): FloatValue {
  if (x.shape.length !== 2 || weight.shape.length !== 1 || weight.shape[0] !== x.shape[1]) {
    throw graphError(`rmsNorm of [${x.shape.join(", ")}] with a weight [${weight.shape.join(", ")}]`);
  }
  return x.graph.composite("RmsNorm", [x, weight], () => {
    const inverse = div(1, sqrt(add(reduceMean(mul(x, x), [-1], true), epsilon)));
    return { output: mul(mul(x, inverse), weight), saved: [inverse] };
  });
}

/** The same by the runtime's own operator: faster for inference, without a gradient rule. */
export function fusedRmsNorm(x: FloatValue, weight: FloatValue, epsilon: number): FloatValue {
  const attributes = { axis: -1, epsilon: { float: epsilon } };
  return x.graph.emit(
    "SimplifiedLayerNormalization",
    [x, weight],
    { dtype: "float32", shape: x.shape },
    attributes,
  );
}

/** With n = x · r: dx = r · (dn − n · mean(dn · n)), where dn = dy · weight; dweight = Σ dy · n. */
export const rmsNormRule: GradientRule = (dy, { floats: [x, weight], saved: [inverse] }) => {
  const normalized = mul(x, inverse);
  const dNormalized = mul(dy, weight);
  const projection = reduceMean(mul(dNormalized, normalized), [-1], true);
  const dx = mul(inverse, sub(dNormalized, mul(normalized, projection)));
  return [dx, reduceSum(mul(dy, normalized), [0])];
};
