import { createModelSession } from "./create-model-session.ts";
import { frozenLinear } from "./frozen-matrix.ts";
import { createGraph } from "./graph.ts";
import { modelBytes } from "./model-bytes.ts";
import type { QuantizedMatrix } from "./quantized-matrix.ts";
import { type QuantizedProducts, quantizedLinear } from "./quantized-product.ts";

/** The form of rows in products with quantized matrices: exact, or with each block rounded to 8 bits. */
export type Activations = "float32" | "int8";

/** Returns how quantized matrices are multiplied on this machine's CPU. Throws ONNX_SESSION_FAILED. */
export async function quantizedProducts(activations: Activations): Promise<QuantizedProducts> {
  if (activations === "int8") return "rounded";
  known ??= partsAreExact();
  return (await known) ? "parts" : "halves";
}

let known: Promise<boolean> | undefined;

/** More than the rounding error of float sums, which is 2 to 4 · 10⁻⁷ of their size. */
const tolerance = 1e-6;

/**
 * Whether products of integers are as exact as those of floats. They are not on ARM processors that multiply bytes but
 * not matrices of bytes, because the runtime adds 128 to the numbers and subtracts the sum again.
 */
async function partsAreExact(): Promise<boolean> {
  const [rows, out, input, block] = [3, 16, 256, 32];
  const weight: QuantizedMatrix = {
    shape: [out, input],
    bits: 8,
    block,
    values: Uint8Array.from({ length: out * input }, (_, at) => (at * 151 + (at >> 4) * 89) & 255),
    scales: Float32Array.from({ length: (out * input) / block }, (_, at) => 1 + (at % 7) / 8),
  };
  const data = Float32Array.from({ length: rows * input }, (_, at) => Math.sin(at * at));
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", input]);
  graph.output("parts", quantizedLinear(x, weight, "parts"));
  graph.output("floats", frozenLinear(x, weight));
  const session = await createModelSession(modelBytes(graph));
  const outputs = await session.run({ x: { shape: [rows, input], data } });
  const [parts, floats] = [outputs.floats("parts"), outputs.floats("floats")];
  const squares = (numbers: Float32Array) => numbers.reduce((sum, number) => sum + number ** 2, 0);
  const lost = squares(parts.map((number, at) => number - floats[at]!)) / squares(floats);
  outputs.release();
  await session.close();
  return Math.sqrt(lost) < tolerance;
}
