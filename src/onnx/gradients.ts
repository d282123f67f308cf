import { add } from "./elementwise.ts";
import type { Cotangent, GradientRule } from "./gradient-rule.ts";
import { gradientRules } from "./gradient-rules.ts";
import { type FloatValue, graphError, type TapeEntry, type Value } from "./graph.ts";

/**
 * The gradients of a scalar with respect to `parameters`, in their order, written into the same graph
 * (reverse-mode differentiation). Throws ONNX_GRAPH_INVALID if the loss doesn't depend on a parameter or an
 * operator on the way has no rule.
 */
export function gradients(loss: FloatValue, parameters: readonly FloatValue[]): FloatValue[] {
  if (loss.shape.length !== 0) throw graphError(`the loss has the shape [${loss.shape.join(", ")}], not []`);
  const sums = backpropagate(loss.graph.tape, loss, loss.graph.floats([1]), parameters);
  return parameters.map((parameter) => {
    const gradient = sums.get(parameter);
    if (!gradient) throw graphError(`the loss doesn't depend on ${parameter.name}`);
    return gradient;
  });
}

/** Takes the gradient of the last output of a tape back to `parameters`. */
function backpropagate(
  tape: readonly TapeEntry[],
  last: FloatValue,
  gradient: FloatValue,
  parameters: readonly FloatValue[],
): Map<Value, FloatValue> {
  const sums = new Map<Value, FloatValue>([[last, gradient]]);
  for (const { step, wanted } of dependentSteps(tape, parameters).reverse()) {
    const dy = sums.get(step.output);
    if (!dy) continue;
    const before = step.floats.map((input) => sums.get(input));
    const cotangents = step.rebuild
      ? rebuiltCotangents(dy, step, step.rebuild)
      : ruleOf(step)(dy, step, before);
    step.floats.forEach((input, index) => {
      const cotangent = cotangents[index];
      if (!cotangent || !wanted[index]) return;
      const sum = sums.get(input);
      if ("total" in cotangent) sums.set(input, cotangent.total);
      else sums.set(input, sum ? add(sum, cotangent) : cotangent);
    });
  }
  return sums;
}

function ruleOf({ op, rule = gradientRules[op] }: TapeEntry): GradientRule {
  if (!rule) throw graphError(`${op} has no gradient rule`);
  return rule;
}

/** Computes a checkpointed step once more, and goes back through that. */
function rebuiltCotangents(dy: FloatValue, step: TapeEntry, rebuild: () => FloatValue): Cotangent[] {
  const { tape } = dy.graph;
  const start = tape.length;
  const output = rebuild();
  const sums = backpropagate(tape.slice(start), output, dy, step.floats);
  return step.floats.map((input) => sums.get(input));
}

/** The steps that depend on a parameter, and which of their inputs do. */
function dependentSteps(tape: readonly TapeEntry[], parameters: readonly FloatValue[]) {
  const dependent = new Set<Value>(parameters);
  return tape.flatMap((step) => {
    const wanted = step.floats.map((input) => dependent.has(input));
    if (!wanted.includes(true)) return [];
    dependent.add(step.output);
    return [{ step, wanted }];
  });
}
