import { add, erf, exp, mul, sigmoid, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue } from "./graph.ts";

/** A gated unit, gate · openness(gate) · up. */
interface Unit {
  openness: (gate: FloatValue) => FloatValue;
  /** The derivative of gate · openness(gate), from gate, openness and their product. */
  slope: (gate: FloatValue, openness: FloatValue, activated: FloatValue) => FloatValue;
}

/** The derivative of g · σ(g) is σ(g) + g · σ(g) · (1 − σ(g)). */
const silu: Unit = {
  openness: sigmoid,
  slope: (_, openness, activated) => add(openness, mul(activated, sub(1, openness))),
};

/** Φ(g), the normal distribution function. The derivative of g · Φ(g) is Φ(g) + g · φ(g). */
const gelu: Unit = {
  openness: (gate) => mul(add(erf(mul(gate, Math.SQRT1_2)), 1), 0.5),
  slope: (gate, openness) => {
    const density = mul(exp(mul(mul(gate, gate), -0.5)), 1 / Math.sqrt(2 * Math.PI));
    return add(openness, mul(gate, density));
  },
};

const steepness = 2 * Math.sqrt(2 / Math.PI);
const cubic = 0.044715;

/** GELU's approximation g · σ(u(g)) with u = 2 √(2 / π) (g + c g³), because ½ (1 + tanh(u / 2)) is σ(u). */
const geluTanh: Unit = {
  openness: (gate) => sigmoid(mul(gate, add(mul(mul(gate, gate), steepness * cubic), steepness))),
  slope: (gate, openness, activated) => {
    const inner = add(mul(mul(gate, gate), 3 * steepness * cubic), steepness);
    return add(openness, mul(mul(activated, sub(1, openness)), inner));
  },
};

/** gate · sigmoid(gate) · up, the activation of Llama's feed-forward block (arXiv 2002.05202). */
export const swiGlu = gatedUnit("SwiGlu", silu);
/** gelu(gate) · up with exact GELU (arXiv 1606.08415): gate times the normal distribution function of gate. */
export const geGlu = gatedUnit("GeGlu", gelu);
/** gelu(gate) · up with the tanh approximation of GELU, the activation of Gemma. */
export const geGluTanh = gatedUnit("GeGluTanh", geluTanh);

/** The rules by the names of the composites. */
export const gatedUnitRules = {
  SwiGlu: gatedUnitRule(silu),
  GeGlu: gatedUnitRule(gelu),
  GeGluTanh: gatedUnitRule(geluTanh),
};

/** A backward pass keeps only gate and up, which are the largest tensors of a layer. */
function gatedUnit(name: keyof typeof gatedUnitRules, unit: Unit) {
  return (gate: FloatValue, up: FloatValue): FloatValue =>
    gate.graph.composite(name, [gate, up], () => {
      const { output } = computed(unit, [gate, up]);
      return { output, saved: [], remake: (floats) => computed(unit, floats) };
    });
}

function computed({ openness }: Unit, [gate, up]: readonly FloatValue[]) {
  const open = openness(gate!);
  const activated = mul(gate!, open);
  return { output: mul(activated, up!), saved: [open, activated] };
}

function gatedUnitRule(unit: Unit): GradientRule {
  return (dy, { floats, saved }) => {
    const [gate, up] = floats;
    const [open, activated] = saved.length > 0 ? saved : computed(unit, floats).saved;
    return [mul(mul(dy, up!), unit.slope(gate!, open!, activated!)), mul(dy, activated!)];
  };
}
