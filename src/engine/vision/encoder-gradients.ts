import { weightInputs } from "../models/weights/model-weights.ts";
import { checkpoint } from "../onnx/checkpoint.ts";
import { mul } from "../onnx/elementwise.ts";
import { gradients } from "../onnx/gradients.ts";
import type { Graph } from "../onnx/graph.ts";
import { reduceSum } from "../onnx/reductions.ts";
import type { ImagePasses } from "./image-passes.ts";
import type { BuildLayer, VisionWeight } from "./tile-encoder.ts";

/**
 * Adds to a graph the gradients of an encoder's weights from `upstream`, those of its embeddings. It keeps each layer's
 * input and recomputes the layer.
 */
export function buildGradients(
  graph: Graph,
  { build }: Pick<ImagePasses, "build">,
  shapes: ReadonlyMap<string, readonly number[]>,
): void {
  const weight = weightsIn(graph, shapes);
  const names = [...shapes.keys()];
  const recomputed: BuildLayer = (prefix, input, layer) => {
    const own = names.filter((name) => name.startsWith(prefix));
    return checkpoint([input, ...own.map(weight)], layer);
  };
  const features = build(graph, weight, recomputed);
  const loss = reduceSum(mul(features, graph.input("upstream", "float32", features.shape)));
  gradients(loss, names.map(weight)).forEach((gradient, at) => {
    graph.output(gradientOf(names[at]!), gradient);
  });
}

/** Adds weights as inputs of their names to a graph. */
export function weightsIn(graph: Graph, shapes: ReadonlyMap<string, readonly number[]>): VisionWeight {
  const inputs = weightInputs(graph, shapes);
  return (name) => inputs.get(name)!;
}

/** Returns the name of the output with the gradient of a weight. */
export function gradientOf(name: string): string {
  return `gradient/${name}`;
}
