import { add, div, minimum, mul, sqrt, sub } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { reduceSum } from "../onnx/reductions.ts";
import type { Target } from "../onnx/target.ts";
import { rateOf } from "./learning-rates.ts";
import { gradientName } from "./training-graphs.ts";

/** Settings that all updates share, as in UpdateSettings and AdamWSettings. */
export interface OptimizerGraphSettings {
  gradientClip: number;
  betas: readonly [number, number];
}

/** The inputs in addition to the tensors, which depend on the schedule and the number of the update. */
export interface UpdateRates {
  learningRate: number;
  valueLearningRate: number;
  /** Factor of the first moment that corrects its start at zero. */
  firstScale: number;
  /** Factor of the second moment's root that corrects its start at zero. */
  secondScale: number;
  /** The decay of matrices, multiplied by their learning rate. */
  weightDecay: number;
}

const epsilon = 1e-8;

/** Returns the name of a tensor's next value. */
export function nextName(name: string): string {
  return `next/${name}`;
}

/**
 * Builds AdamW (arXiv 1711.05101; epsilon 1e-8) as a model, for devices whose memory keeps the parameters. Inputs: each
 * parameter with its `gradient/…`, `first/…` and `second/…`, and the rates. Outputs: `next/…` of parameters and
 * moments, and `gradientNorm` before clipping.
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
