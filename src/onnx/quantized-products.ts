import { createSession } from "./create-session.ts";
import { createGraph } from "./graph.ts";
import { modelBytes } from "./model-bytes.ts";
import type { QuantizedMatrix } from "./quantized-matrix.ts";
import { type QuantizedProducts, quantizedLinear } from "./quantized-product.ts";

/** What rows are as quantized matrices are multiplied by them: as they are, or each block rounded to 8 bits. */
export type Activations = "float32" | "int8";

/** How quantized matrices are multiplied on this machine's processor. Throws ONNX_SESSION_FAILED. */
export async function quantizedProducts(activations: Activations): Promise<QuantizedProducts> {
  if (activations === "int8") return "rounded";
  known ??= partsAreExact();
  return (await known) ? "parts" : "halves";
}

let known: Promise<boolean> | undefined;

/** More than what sums of floats lose: 2 to 4 · 10⁻⁷ of their size. */
const tolerance = 1e-6;

/**
 * Whether products of integers lose no more than those of floats. On ARM processors that multiply bytes but not matrices of them, the runtime's
 * do: it adds 128 to what it multiplies, and takes the sum away again.
 */
async function partsAreExact(): Promise<boolean> {
  const [rows, out, input, block] = [3, 16, 256, 32];
  const weight: QuantizedMatrix & { values: Uint8Array; scales: Float32Array } = {
    ...{ shape: [out, input], bits: 8, block },
    values: Uint8Array.from({ length: out * input }, (_, at) => (at * 151 + (at >> 4) * 89) & 255),
    scales: Float32Array.from({ length: (out * input) / block }, (_, at) => 1 + (at % 7) / 8),
  };
  const x = Float32Array.from({ length: rows * input }, (_, at) => Math.sin(at * at));
  const graph = createGraph();
  graph.output("y", quantizedLinear(graph.input("x", "float32", [rows, input]), weight, "parts"));
  const session = await createSession(modelBytes(graph));
  const outputs = await session.run({ x: { shape: [rows, input], data: x } });
  const found = outputs.floats("y").slice();
  outputs.release();
  await session.close();
  let [lost, size] = [0, 0];
  found.forEach((y, at) => {
    const [row, unit] = [Math.floor(at / out), at % out];
    let sum = 0;
    for (let k = 0; k < input; k++) {
      const place = unit * input + k;
      const number = weight.scales[Math.floor(place / block)]! * (weight.values[place]! - 128);
      sum += x[row * input + k]! * number;
    }
    lost += (y - sum) ** 2;
    size += sum ** 2;
  });
  return Math.sqrt(lost / size) < tolerance;
}
