import { add, div, mul, sqrt, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue } from "./graph.ts";
import { reduceMean, reduceSum } from "./reductions.ts";

/** Normalizes each row of x [rows, size] to mean 0 and variance 1, times weight [size], plus bias [size]. */
export function layerNorm(x: FloatValue, weight: FloatValue, bias: FloatValue, epsilon: number): FloatValue {
  const output = { dtype: "float32", shape: x.shape } as const;
  return x.graph.composite("LayerNorm", [x, weight, bias], () => ({
    output: x.graph.emit("LayerNormalization", [x, weight, bias], output, {
      axis: -1,
      epsilon: { float: epsilon },
    }),
    saved: [],
    rule: layerNormRule(epsilon),
  }));
}

/** With n = (x − mean) · r: dx = r · (dn − mean(dn) − n · mean(dn · n)), where dn = dy · weight. */
function layerNormRule(epsilon: number): GradientRule {
  const mean = (of: FloatValue) => reduceMean(of, [-1], true);
  return (dy, { floats: [x, weight] }) => {
    const centered = sub(x, mean(x));
    const inverse = div(1, sqrt(add(mean(mul(centered, centered)), epsilon)));
    const normalized = mul(centered, inverse);
    const dn = mul(dy, weight!);
    const dx = mul(inverse, sub(sub(dn, mean(dn)), mul(normalized, mean(mul(dn, normalized)))));
    return [dx, reduceSum(mul(dy, normalized), [0]), reduceSum(dy, [0])];
  };
}
