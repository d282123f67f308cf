import { add, erf, mul, sigmoid } from "./elementwise.ts";
import type { FloatValue } from "./graph.ts";

/** Returns x · Φ(x) with the normal distribution function Φ (arXiv 1606.08415). */
export function gelu(x: FloatValue): FloatValue {
  return mul(mul(x, 0.5), add(erf(mul(x, Math.SQRT1_2)), 1));
}

const steepness = 2 * Math.sqrt(2 / Math.PI);

/** Returns the approximation of `gelu` by tanh, ½ x (1 + tanh(√(2 / π) (x + 0.044715 x³))). */
export function geluTanh(x: FloatValue): FloatValue {
  return mul(x, sigmoid(mul(x, add(mul(mul(x, x), steepness * 0.044715), steepness))));
}
