import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph, type FloatValue, type Graph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import type { Tensor } from "../../../../src/engine/onnx/model-session.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";

/** Numbers in ±1 that look random, the same at each call. */
export function noise(count: number, seed = 1): Float32Array {
  return Float32Array.from({ length: count }, (_, at) => Math.sin((at + 1) * 12.9898 + seed * 78.233));
}

/** Shapes of float inputs; a size given as a name and a number is symbolic. */
export type InputShapes = readonly (readonly (number | readonly [string, number])[])[];

/**
 * The largest difference between the gradients of Σ noise · build(inputs) and central differences, relative to
 * the largest gradient of each input.
 */
export async function gradientError(
  shapes: InputShapes,
  build: (inputs: FloatValue[], graph: Graph) => FloatValue,
  data = shapes.map((shape, index) =>
    noise(
      sizes(shape).reduce((a, b) => a * b, 1),
      index + 1,
    ),
  ),
): Promise<number> {
  const graph = createGraph();
  const inputs = shapes.map((shape, index) => graph.input(`x${index}`, "float32", shape.map(nameOf)));
  const y = build(inputs, graph);
  graph.output("y", y);
  const seed = graph.input("seed", "float32", y.shape);
  const loss = reduceSum(mul(y, seed));
  gradients(loss, inputs).forEach((gradient, index) => {
    graph.output(`dx${index}`, gradient);
  });
  const session = await createModelSession(modelBytes(graph), { threads: 1 });

  const feeds: Record<string, Tensor> = Object.fromEntries(
    data.map((numbers, index) => [`x${index}`, { shape: sizes(shapes[index]!), data: numbers }]),
  );
  // A first pass tells the shape of y, which may be symbolic.
  const forward = createGraph();
  forward.output(
    "y",
    build(
      shapes.map((shape, index) => forward.input(`x${index}`, "float32", shape.map(nameOf))),
      forward,
    ),
  );
  const forwardSession = await createModelSession(modelBytes(forward), { threads: 1 });
  const { shape: outputShape } = (await forwardSession.run(feeds)).tensor("y");
  const weights = noise(
    outputShape.reduce((a, b) => a * b, 1),
    9,
  );
  const analytic = await session.run({ ...feeds, seed: { shape: outputShape, data: weights } });
  const lossAt = async () =>
    (await forwardSession.run(feeds)).floats("y").reduce((sum, value, at) => sum + value * weights[at]!, 0);

  let worst = 0;
  const step = 2 ** -7;
  for (const [index, numbers] of data.entries()) {
    const gradient = analytic.floats(`dx${index}`);
    const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
    for (let at = 0; at < numbers.length; at++) {
      const kept = numbers[at]!;
      numbers[at] = kept + step;
      const above = await lossAt();
      numbers[at] = kept - step;
      const below = await lossAt();
      numbers[at] = kept;
      const difference = Math.abs((above - below) / (2 * step) - gradient[at]!);
      worst = Math.max(worst, difference / largest);
    }
  }
  await session.close();
  await forwardSession.close();
  return worst;
}

function nameOf(size: number | readonly [string, number]) {
  return typeof size === "number" ? size : size[0];
}

function sizes(shape: InputShapes[number]): number[] {
  return shape.map((size) => (typeof size === "number" ? size : size[1]));
}
