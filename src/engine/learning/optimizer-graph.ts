import { add, div, minimum, mul, sqrt, sub } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { reduceSum } from "../onnx/reductions.ts";
import type { Target } from "../onnx/target.ts";
import { rateOf } from "./learning-rates.ts";
import { gradientName } from "./training-graphs.ts";

/** What does not change from one update to the next; as in UpdateSettings and AdamWSettings. */
export interface OptimizerGraphSettings {
  gradientClip: number;
  betas: readonly [number, number];
}

/** The inputs beside the tensors: numbers that the schedule and the count of updates give. */
export interface UpdateRates {
  learningRate: number;
  valueLearningRate: number;
  /** What the first moment is multiplied with, for its start at zero. */
  firstScale: number;
  /** What the root of the second moment is multiplied with, for its start at zero. */
  secondScale: number;
  /** Matrices decay by it, times their learning rate. */
  weightDecay: number;
}

const epsilon = 1e-8;

/** The name of what comes after a tensor. */
export function nextName(name: string): string {
  return `next/${name}`;
}

/**
 * AdamW (arXiv 1711.05101; epsilon 1e-8) as a model, for devices whose memory keeps the parameters. Inputs: each
 * parameter, its `gradient/…`, `first/…` and `second/…`; the rates. Outputs: `next/…` of parameters and moments,
 * and `gradientNorm` before clipping.
 */
export function optimizerModel(
  shapes: ReadonlyMap<string, readonly number[]>,
  { gradientClip, betas }: OptimizerGraphSettings,
  target: Target,
): Uint8Array {
  const graph = createGraph();
  const rate = (name: keyof UpdateRates) => graph.input(name, "float32", []);
  const [firstScale, secondScale, weightDecay] = [
    rate("firstScale"),
    rate("secondScale"),
    rate("weightDecay"),
  ];
  const rates = { learningRate: rate("learningRate"), valueLearningRate: rate("valueLearningRate") };
  const gradients = new Map(
    [...shapes].map(([name, shape]) => [name, graph.input(gradientName(name), "float32", shape)]),
  );
  const squares = [...gradients.values()].map((gradient) => reduceSum(mul(gradient, gradient)));
  const norm = sqrt(squares.reduce(add));
  graph.output("gradientNorm", norm);
  const scale = minimum(div(gradientClip, add(norm, 1e-6)), 1);

  const blended = (decay: number, before: FloatValue, now: FloatValue) =>
    add(mul(before, decay), mul(now, 1 - decay));
  for (const [name, gradient] of gradients) {
    const { shape } = gradient;
    const parameter = graph.input(name, "float32", shape);
    const scaled = mul(gradient, scale);
    const first = blended(betas[0], graph.input(`first/${name}`, "float32", shape), scaled);
    const second = blended(betas[1], graph.input(`second/${name}`, "float32", shape), mul(scaled, scaled));
    const ownRate = rateOf(name, rates);
    const size = add(mul(sqrt(second), secondScale), epsilon);
    const change = div(mul(first, mul(ownRate, firstScale)), size);
    const kept = shape.length > 1 ? mul(parameter, sub(1, mul(ownRate, weightDecay))) : parameter;
    graph.output(nextName(name), sub(kept, change));
    graph.output(nextName(`first/${name}`), first);
    graph.output(nextName(`second/${name}`), second);
  }
  return modelBytes(graph, target);
}
