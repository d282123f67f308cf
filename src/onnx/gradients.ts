import type { Cotangent, GradientRule } from "./gradient-rule.ts";
import { gradientRules } from "./gradient-rules.ts";
import { createGradientSums, type GradientSums } from "./gradient-sums.ts";
import { type FloatValue, type GradientRows, graphError, type TapeEntry } from "./graph.ts";
import { remadeSteps } from "./remade.ts";

/**
 * The gradients of a scalar with respect to `parameters`, in their order, written into the same graph
 * (reverse-mode differentiation). Throws ONNX_GRAPH_INVALID if the loss doesn't depend on a parameter or an
 * operator on the way has no rule.
 */
export function gradients(loss: FloatValue, parameters: readonly FloatValue[]): FloatValue[] {
  const sums = sumsOf(loss, parameters);
  return parameters.map((parameter) => sums.whole(parameter)!);
}

/** A gradient, and rows that are to be added to it. */
export interface GradientWithRows {
  gradient: FloatValue;
  rows: readonly GradientRows[];
}

/**
 * The same, without what is to be added to single rows of tables that have a gradient beside, such as embeddings tied to the
 * head: as one output, the runtime would copy the whole table before it adds some rows.
 */
export function gradientsWithRows(loss: FloatValue, parameters: readonly FloatValue[]): GradientWithRows[] {
  const sums = sumsOf(loss, parameters);
  return parameters.map((parameter) => {
    const gradient = sums.dense(parameter);
    return gradient
      ? { gradient, rows: sums.rows(parameter) }
      : { gradient: sums.whole(parameter)!, rows: [] };
  });
}

function sumsOf(loss: FloatValue, parameters: readonly FloatValue[]): GradientSums {
  if (loss.shape.length !== 0) throw graphError(`the loss has the shape [${loss.shape.join(", ")}], not []`);
  const { graph } = loss;
  const { tape } = graph;
  const sums = backpropagate(tape, loss, graph.floats([1]), parameters, remadeSteps(tape));
  const missing = parameters.find((parameter) => !sums.has(parameter));
  if (missing) throw graphError(`the loss doesn't depend on ${missing.name}`);
  return sums;
}

/** Takes the gradient of the last output of a tape back to `parameters`, by steps as their rules are to see them. */
function backpropagate(
  tape: readonly TapeEntry[],
  last: FloatValue,
  gradient: FloatValue,
  parameters: readonly FloatValue[],
  asKept: (step: TapeEntry) => TapeEntry,
): GradientSums {
  const sums = createGradientSums();
  sums.add(last, gradient);
  for (const { step, wanted } of dependentSteps(tape, parameters).reverse()) {
    const dy = sums.whole(step.output);
    if (!dy) continue;
    const sumOf = (place: number) => sums.whole(step.floats[place]!);
    const cotangents = step.rebuild
      ? rebuiltCotangents(dy, step, step.rebuild)
      : ruleOf(step)(dy, asKept(step), sumOf);
    step.floats.forEach((input, index) => {
      const cotangent = cotangents[index];
      if (cotangent && wanted[index]) sums.add(input, cotangent);
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
  const sums = backpropagate(tape.slice(start), output, dy, step.floats, (step) => step);
  return step.floats.map((input) => sums.whole(input));
}

/** The steps that depend on a parameter, and which of their inputs do. */
function dependentSteps(tape: readonly TapeEntry[], parameters: readonly FloatValue[]) {
  const dependent = new Set<FloatValue>(parameters);
  return tape.flatMap((step) => {
    const wanted = step.floats.map((input) => dependent.has(input));
    if (!wanted.includes(true)) return [];
    dependent.add(step.output);
    return [{ step, wanted }];
  });
}
