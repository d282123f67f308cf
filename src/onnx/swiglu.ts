import { add, mul, sigmoid, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue } from "./graph.ts";

/** gate · sigmoid(gate) · up, the activation of Llama's feed-forward block (arXiv 2002.05202). */
export function swiGlu(gate: FloatValue, up: FloatValue): FloatValue {
  return gate.graph.composite("SwiGlu", [gate, up], () => {
    const openness = sigmoid(gate);
    const activated = mul(gate, openness);
    return { output: mul(activated, up), saved: [openness, activated] };
  });
}

/** The derivative of g · σ(g) is σ(g) + g · σ(g) · (1 − σ(g)). */
export const swiGluRule: GradientRule = (dy, { floats: [, up], saved: [openness, activated] }) => [
  mul(mul(dy, up), add(openness, mul(activated, sub(1, openness)))),
  mul(dy, activated),
];
