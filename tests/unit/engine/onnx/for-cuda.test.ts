import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { argMax, reduceMax } from "../../../../src/engine/onnx/reductions.ts";

/** The largest number of each row and its place, by a model that is written for CUDA, on the processor. */
async function largest(size: number, data: Float32Array) {
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", size]);
  graph.output("largest", reduceMax(x));
  graph.output("place", argMax(x));
  const session = await createModelSession(modelBytes(graph, { device: "cuda" }));
  const outputs = await session.run({ x: { shape: [data.length / size, size], data } });
  await session.close();
  return { largest: outputs.tensor("largest"), places: outputs.tensor("place") };
}

// Vocabularies of SmolLM2, Qwen2.5 and GPT-2; a prime number; one that is left as it is.
test.each([49_152, 151_936, 50_257, 32_003, 512])(
  "for CUDA, the largest of %i numbers is found as it was, the first of equals",
  async (size) => {
    const places = [0, 1, size - 1, Math.floor(size / 3), Math.floor(size / 2)];
    const data = new Float32Array(places.length * size).map((_, at) => Math.sin(at * at));
    places.forEach((place, row) => {
      data[row * size + place] = 2 + row;
      if (row > 2) data[row * size + place + 1] = 2 + row;
    });
    const found = await largest(size, data);
    expect(found.largest).toEqual({ shape: [5, 1], data: Float32Array.of(2, 3, 4, 5, 6) });
    expect(found.places).toEqual({ shape: [5], data: BigInt64Array.from(places, BigInt) });
  },
);
