import type { Cotangent, GradientRule } from "./gradient-rule.ts";
import { gradientRules } from "./gradient-rules.ts";
import { createGradientSums, type GradientSums } from "./gradient-sums.ts";
import { type FloatValue, type GradientRows, graphError, type TapeEntry } from "./graph.ts";

/**
 * Adds the gradients of a scalar with respect to `parameters` to the same graph (reverse-mode differentiation). Returns
 * them in order. Throws ONNX_GRAPH_INVALID if the loss doesn't depend on a parameter, or if an operator on the way has
 * no rule.
 */
export function gradients(loss: FloatValue, parameters: readonly FloatValue[]): FloatValue[] {
  const sums = sumsOf(loss, parameters);
  return parameters.map((parameter) => sums.whole(parameter)!);
}

/** A gradient, and rows to add to it. */
export interface GradientWithRows {
  gradient: FloatValue;
  rows: readonly GradientRows[];
}

/**
 * Like `gradients`, but keeps rows of tables separate if the table also has a dense gradient, like embeddings tied to
 * the head. In one output, the runtime would copy the whole table before it adds some rows. `finish` converts a
 * gradient as soon as it is complete, so that the gradient itself need not be kept to the end.
 */
export function gradientsWithRows(
  loss: FloatValue,
  parameters: readonly FloatValue[],
  finish: (gradient: FloatValue, parameter: FloatValue) => FloatValue = (gradient) => gradient,
): GradientWithRows[] {
  const finished = new Map<FloatValue, FloatValue>();
  const sums = sumsOf(loss, parameters, (parameter, gradient) => {
    finished.set(parameter, finish(gradient, parameter));
  });
  return parameters.map((parameter) => {
    const rows = sums.rows(parameter);
    const gradient = finished.get(parameter);
    if (gradient) return { gradient, rows };
    const dense = sums.dense(parameter);
    return dense
      ? { gradient: finish(dense, parameter), rows }
      : { gradient: finish(sums.whole(parameter)!, parameter), rows: [] };
  });
}

/**
 * Receives a parameter's gradient as soon as no step will add to it, unless it has parts that are computed at the end.
 */
type OnComplete = (parameter: FloatValue, gradient: FloatValue) => void;

function sumsOf(loss: FloatValue, parameters: readonly FloatValue[], onComplete?: OnComplete): GradientSums {
  if (loss.shape.length !== 0) throw graphError(`the loss has the shape [${loss.shape.join(", ")}], not []`);
  const { graph } = loss;
  const { tape } = graph;
  const sums = backpropagate(tape, loss, graph.floats([1]), parameters, remadeSteps(tape), onComplete);
  const missing = parameters.find((parameter) => !sums.has(parameter));
  if (missing) throw graphError(`the loss doesn't depend on ${missing.name}`);
  return sums;
}

/**
 * Propagates the gradient of a tape's last output back to `parameters`. `steps` returns steps as their rules see them.
 */
function backpropagate(
  tape: readonly TapeEntry[],
  last: FloatValue,
  gradient: FloatValue,
  parameters: readonly FloatValue[],
  asKept: (step: TapeEntry) => TapeEntry,
  onComplete?: OnComplete,
): GradientSums {
  const sums = createGradientSums();
  sums.add(last, gradient);
  const steps = dependentSteps(tape, parameters);
  /** By parameter, the last step on the way back that adds to its gradient. Rows of a table are returned separately. */
  const firstSteps = new Map(
    steps.toReversed().flatMap(({ step }) => {
      return step.op === "Gather" ? [] : step.floats.map((input) => [input, step] as const);
    }),
  );
  const among = new Set(parameters);
  for (const { step, wanted } of steps.toReversed()) {
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
    for (const input of onComplete ? new Set(step.floats) : []) {
      const complete = among.has(input) && firstSteps.get(input) === step && sums.complete(input);
      if (complete) onComplete?.(input, complete);
    }
  }
  return sums;
}

function ruleOf({ op, rule = gradientRules[op] }: TapeEntry): GradientRule {
  if (!rule) throw graphError(`${op} has no gradient rule`);
  return rule;
}

/** Recomputes a checkpointed step, and propagates back through that. */
function rebuiltCotangents(dy: FloatValue, step: TapeEntry, rebuild: () => FloatValue): Cotangent[] {
  const { tape } = dy.graph;
  const start = tape.length;
  const output = rebuild();
  const sums = backpropagate(tape.slice(start), output, dy, step.floats, (entry) => entry);
  return step.floats.map((input) => sums.whole(input));
}

/** Returns the steps that depend on a parameter, and which of their inputs do. */
function dependentSteps(tape: readonly TapeEntry[], parameters: readonly FloatValue[]) {
  const dependent = new Set<FloatValue>(parameters);
  return tape.flatMap((step) => {
    const wanted = step.floats.map((input) => dependent.has(input));
    if (!wanted.includes(true)) return [];
    dependent.add(step.output);
    return [{ step, wanted }];
  });
}

/**
 * Returns a function that prepares a tape's steps for the backward pass. Outputs that are cheap to compute (`remake`)
 * are recomputed when a rule first needs them, and shared by all rules (rematerialization; arXiv 2205.05198 calls it
 * selective recomputation).
 */
function remadeSteps(tape: readonly TapeEntry[]): (step: TapeEntry) => TapeEntry {
  const cheap = new Map(tape.flatMap((step) => (step.remake ? [[step.output, step]] : [])));
  const remade = new Map<FloatValue, Pick<TapeEntry, "output" | "saved">>();
  const latest = (value: FloatValue): FloatValue => {
    const step = cheap.get(value);
    if (!step?.remake) return value;
    const known = remade.get(value) ?? step.remake(step.floats.map(latest));
    remade.set(value, known);
    return known.output;
  };
  return (step) => ({ ...step, floats: step.floats.map(latest), ...remade.get(step.output) });
}
