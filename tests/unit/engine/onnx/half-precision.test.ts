import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gemm } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { softmax } from "../../../../src/engine/onnx/reductions.ts";
import type { Precision } from "../../../../src/engine/onnx/target.ts";

/** A product and its softmax, with the product in a precision. */
async function run(precision: Precision) {
  const graph = createGraph();
  const product = gemm(graph.input("a", "float32", [1, 3]), graph.input("b", "float32", [3, 2]));
  graph.output("product", product);
  graph.output("softmax", softmax(product));
  const session = await createModelSession(modelBytes(graph, { precision }));
  const a = { shape: [1, 3], data: Float32Array.of(1.0009765625, 0.1, 3) };
  const b = { shape: [3, 2], data: Float32Array.of(1, 0.30078125, 1, 1 / 3, 2 ** -12, 5) };
  const outputs = await session.run({ a, b });
  return { product: [...outputs.floats("product")], softmax: [...outputs.floats("softmax")] };
}

/** A number to so many significant bits, ties to even. */
function rounded(value: number, bits: number): number {
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits + 1);
  const steps = value / unit;
  const down = Math.floor(steps);
  const up = steps - down > 0.5 || (steps - down === 0.5 && down % 2 === 1);
  return (up ? down + 1 : down) * unit;
}

test.each([
  ["float16", 11],
  ["bfloat16", 8],
] as const)(
  "%s products are of operands, and to results, of %i significant bits; the rest stays float32",
  async (precision, bits) => {
    const half = (value: number) => rounded(value, bits);
    const [x, y, z] = [half(1.0009765625), half(0.1), half(3)];
    const expected = [
      half(x * 1 + y * 1 + z * half(2 ** -12)),
      half(x * half(0.30078125) + y * half(1 / 3) + z * half(5)),
    ];
    const { product, softmax: shares } = await run(precision);
    expect(product).toEqual(expected);
    const exact = Math.exp(product[0]! - product[1]!) / (1 + Math.exp(product[0]! - product[1]!));
    expect(shares[0]).toBeCloseTo(exact, 7);
  },
);

/** The product of two products with a third matrix, and what it multiplies, in bfloat16. */
async function gated(isAsked: boolean) {
  const graph = createGraph();
  const input = (name: string) => graph.input(name, "float32", [1, 1]);
  const [x, a, b, c] = [input("x"), input("a"), input("b"), input("c")];
  const between = mul(gemm(x, a), gemm(x, b));
  graph.output("product", gemm(between, c));
  if (isAsked) graph.output("between", between);
  const session = await createModelSession(modelBytes(graph, { precision: "bfloat16" }));
  const one = (value: number) => ({ shape: [1, 1], data: Float32Array.of(value) });
  const outputs = await session.run({ x: one(1), a: one(1.0078125), b: one(1.0234375), c: one(3) });
  return { product: outputs.floats("product")[0], between: isAsked && outputs.floats("between")[0] };
}

test("what only products read is computed in half precision too, what others read is not", async () => {
  const exact = 1.0078125 * 1.0234375;
  const once = rounded(exact, 8);
  expect(once).not.toBe(exact);
  expect(await gated(false)).toEqual({ product: rounded(3 * once, 8), between: false });
  expect(await gated(true)).toEqual({ product: rounded(3 * once, 8), between: exact });
});

test("float32 products are exact to float32", async () => {
  const { product } = await run("float32");
  expect(product[0]).toBeCloseTo(1.0009765625 + 0.1 + 3 * 2 ** -12, 6);
});

test("bfloat16 is refused for WebGPU, which has none", () => {
  const graph = createGraph();
  graph.output("same", graph.input("number", "float32", [1]));
  const target = { device: "webgpu", precision: "bfloat16" } as const;
  expect(() => modelBytes(graph, target)).toThrow(
    "The device “webgpu” can't be used on this machine: it has no bfloat16.",
  );
});
