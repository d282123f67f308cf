import { add, erf, mul, sigmoid, sub, tanh } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue } from "./graph.ts";

/** gate · sigmoid(gate) · up, the activation of Llama's feed-forward block (arXiv 2002.05202). */
export function swiGlu(gate: FloatValue, up: FloatValue): FloatValue {
  return gate.graph.composite("SwiGlu", [gate, up], () => ({
    output: mul(mul(gate, sigmoid(gate)), up),
    saved: [],
  }));
}

/**
 * The derivative of g · σ(g) is σ(g) + g · σ(g) · (1 − σ(g)). What the forward pass had is computed again: cheap, and
 * these are the largest tensors of a layer.
 */
export const swiGluRule: GradientRule = (dy, { floats: [gate, up] }) => {
  const openness = sigmoid(gate);
  const activated = mul(gate, openness);
  const slope = add(openness, mul(activated, sub(1, openness)));
  return [mul(mul(dy, up), slope), mul(dy, activated)];
};

/** gelu(gate) · up with GELU itself (arXiv 1606.08415): gate times the normal distribution's share below it. */
export function geGlu(gate: FloatValue, up: FloatValue): FloatValue {
  return mul(mul(mul(gate, 0.5), add(erf(mul(gate, Math.SQRT1_2)), 1)), up);
}

/** gelu(gate) · up with the tanh approximation of GELU, the activation of Gemma. */
export function geGluTanh(gate: FloatValue, up: FloatValue): FloatValue {
  const cube = mul(mul(gate, gate), gate);
  const inner = mul(add(gate, mul(cube, 0.044715)), Math.sqrt(2 / Math.PI));
  return mul(mul(mul(gate, 0.5), add(tanh(inner), 1)), up);
}
