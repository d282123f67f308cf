import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { geGlu, geGluTanh, swiGlu } from "../../../../src/engine/onnx/gated-units.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";

/** Of Python: 0.5 · x · (1 + math.erf(x / √2)), its approximation by math.tanh, and x / (1 + e^−x). */
const numbers = [-3, -0.5, 0, 0.3, 1, 3];
const expected = {
  gelu: [
    -0.00404969409489031, -0.15426876936299344, 0, 0.18537342665668577, 0.8413447460685429, 2.99595030590511,
  ],
  tanh: [-0.003637392081773, -0.154285988, 0, 0.185370326, 0.841191990608293, 2.996362607918227],
  silu: [-0.142277619, -0.188770334, 0, 0.172332754, 0.731058579, 2.857722381],
};

test("GELU, its approximation and SiLU are three different activations", async () => {
  const graph = createGraph();
  const gate = graph.input("gate", "float32", ["rows"]);
  const up = graph.floats([1]);
  graph.output("gelu", geGlu(gate, up));
  graph.output("tanh", geGluTanh(gate, up));
  graph.output("silu", swiGlu(gate, up));
  const session = await createModelSession(modelBytes(graph), { threads: 1 });
  const outputs = await session.run({ gate: { shape: [6], data: Float32Array.from(numbers) } });
  for (const [name, values] of Object.entries(expected)) {
    const found = outputs.floats(name);
    for (const [at, value] of values.entries()) {
      expect(found[at], `${name} of ${numbers[at]}`).toBeCloseTo(value, 5);
    }
  }
  await session.close();
});
