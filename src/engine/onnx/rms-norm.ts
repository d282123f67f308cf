import { defined } from "../../base/records/defined.ts";
import { add, div, mul, sqrt, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type Attributes, type FloatValue, graphError } from "./graph.ts";
import { gemm } from "./linear-algebra.ts";
import { reduceMean, reduceSum } from "./reductions.ts";
import { reshape } from "./shaping.ts";

/**
 * Normalizes each row of x [rows, size] by its root mean square, times weight [size] (arXiv 1910.07467). Built from
 * primitives except on the CPU, because the second output of the runtime's own operator was wrong on WebGPU.
 */
export function rmsNorm(x: FloatValue, weight: FloatValue, epsilon: number, onProcessor = false): FloatValue {
  if (x.shape.length !== 2 || weight.shape.length !== 1 || weight.shape[0] !== x.shape[1]) {
    throw graphError(`rmsNorm of [${x.shape.join(", ")}] with a weight [${weight.shape.join(", ")}]`);
  }
  return x.graph.composite("RmsNorm", [x, weight], () => {
    const { output, inverse } = onProcessor
      ? byOperator(x, weight, epsilon)
      : byPrimitives(x, weight, epsilon);
    return defined({
      output,
      saved: [inverse],
      remake: ([input, gain]) => {
        const normalized = mul(input!, inverse);
        return { output: mul(normalized, gain!), saved: [inverse, normalized] };
      },
      rule: onProcessor ? processorRule : undefined,
    });
  });
}

/** Returns the norm and the inverse root [rows, 1]. */
function byOperator(x: FloatValue, weight: FloatValue, epsilon: number) {
  const shapes = [x.shape, [x.shape[0]!, 1]];
  const [output, inverse] = x.graph.emitSeveral(normOperator, [x, weight], shapes, attributesOf(epsilon), "");
  return { output: output!, inverse: inverse! };
}

function byPrimitives(x: FloatValue, weight: FloatValue, epsilon: number) {
  const inverse = div(1, sqrt(add(reduceMean(mul(x, x), [-1], true), epsilon)));
  return { output: mul(mul(x, inverse), weight), inverse };
}

/** Uses the runtime's own operator: faster for inference, without a gradient rule. */
export function fusedRmsNorm(x: FloatValue, weight: FloatValue, epsilon: number): FloatValue {
  const output = { dtype: "float32", shape: x.shape } as const;
  return x.graph.emit(normOperator, [x, weight], output, attributesOf(epsilon));
}

const normOperator = "SimplifiedLayerNormalization";

function attributesOf(epsilon: number): Attributes {
  return { axis: -1, epsilon: { float: epsilon } };
}

/** With n = x · r: dx = r · (dn − n · mean(dn · n)), where dn = dy · weight; dweight = Σ dy · n. */
export const rmsNormRule: GradientRule = normRule((both, weight) =>
  reduceMean(mul(both, weight), [-1], true),
);

/** The same with the mean as a product, which is not suitable for half-precision products. */
const processorRule: GradientRule = normRule((both, weight) => {
  const size = Number(weight.shape[0]);
  return gemm(both, reshape(weight, [size, 1]), { alpha: 1 / size });
});

function normRule(meanOf: (both: FloatValue, weight: FloatValue) => FloatValue): GradientRule {
  return (dy, { floats: [x, weight], saved: [inverse, normalized = mul(x, inverse!)] }) => {
    const both = mul(dy, normalized);
    const dx = mul(inverse!, sub(mul(dy, weight), mul(normalized, meanOf(both, weight))));
    return [dx, reduceSum(both, [0])];
  };
}
