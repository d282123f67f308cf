import { expect, test } from "vitest";
import type { Device } from "../../../../src/engine/devices/device.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gemm } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { profilePass } from "../../../../src/engine/onnx/profile-pass.ts";

/** The gradient of a weight [out, in] by the processor, of a model that is written for a device, and the nodes that the runtime ran. */
async function gradient(out: number, columns: number, device: Device) {
  const graph = createGraph();
  const [dy, x] = [
    graph.input("dy", "float32", ["rows", out]),
    graph.input("x", "float32", ["rows", columns]),
  ];
  const plus = graph.input("plus", "float32", [out, columns]);
  graph.output("sum", gemm(dy, x, { transposeA: true, alpha: 0.5, plus }));
  const matrix = (rows: number, width: number, step: number) => ({
    shape: [rows, width],
    data: Float32Array.from({ length: rows * width }, (_, at) => ((at * step) % 1009) / 500 - 1),
  });
  const feeds = { dy: matrix(30, out, 7), x: matrix(30, columns, 13), plus: matrix(out, columns, 29) };
  const { nodes, floats } = await profilePass(modelBytes(graph, { device }), feeds, "cpu");
  return { ran: nodes.map(({ op }) => op), sum: floats.get("sum")! };
}

// The weights of SmolLM2-135M, the narrowest and widest that are copied, few columns (an adapter), and a table of a large vocabulary.
test.each([
  { out: 1536, columns: 576, copied: true },
  { out: 16_384, columns: 256, copied: true },
  { out: 1536, columns: 16, copied: false },
  { out: 16_385, columns: 256, copied: false },
])("the gradient [$out, $columns] is the same whether its factor is copied first: $copied", async (size) => {
  const { out, columns, copied } = size;
  const plain = await gradient(out, columns, "cuda");
  const ours = await gradient(out, columns, "cpu");
  expect(plain.ran).toEqual(["Gemm"]);
  expect(ours.ran).toEqual(copied ? ["Transpose", "Gemm"] : ["Gemm"]);
  expect(Buffer.from(ours.sum.buffer).equals(Buffer.from(plain.sum.buffer))).toBe(true);
  expect(ours.sum).toHaveLength(out * columns);
  expect(ours.sum.every((number) => number === 0)).toBe(false);
});

test("a graph of so many products that copies and what reads them are in different parts computes the same", async () => {
  const graph = createGraph();
  const [dy, x] = [graph.input("dy", "float32", ["rows", 2]), graph.input("x", "float32", ["rows", 256])];
  // One node before pairs of copy and product: each part, of an even number of nodes, ends between the two.
  let sum = gemm(mul(dy, 2), x, { transposeA: true });
  for (let step = 1; step < 5100; step++) sum = gemm(dy, x, { transposeA: true, plus: sum });
  graph.output("sum", sum);
  const [rows, first, second] = [3, [1, 0, 2, 3, 0, 1], Array.from({ length: 768 }, (_, at) => at % 7)];
  const session = await createModelSession(modelBytes(graph));
  const outputs = await session.run({
    dy: { shape: [rows, 2], data: Float32Array.from(first) },
    x: { shape: [rows, 256], data: Float32Array.from(second) },
  });
  const product = (out: number, column: number) =>
    [0, 1, 2].reduce((total, row) => total + first[2 * row + out]! * second[256 * row + column]!, 0);
  const expected = Array.from({ length: 512 }, (_, at) => 5101 * product(at >> 8, at & 255));
  expect([...outputs.floats("sum")]).toEqual(expected);
  outputs.release();
  await session.close();
});
