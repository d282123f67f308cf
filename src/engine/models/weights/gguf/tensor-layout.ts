import { defined } from "../../../../base/records/defined.ts";
import { families } from "../../config/families.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { HeldMatrix } from "../quantize.ts";
import type { Tensor } from "../safetensors.ts";
import { permutesHeads } from "./architectures.ts";

/** The direction of a conversion between GGUF and Hugging Face. */
export type Direction = "from-gguf" | "to-gguf";

/**
 * Converts the layout of a weight with Hugging Face's name. llama.cpp's converter changes two things. The rows of
 * queries and keys of Llama and SmolLM3 have their rotated pairs adjacent in GGUF and half a head apart in Hugging
 * Face's files. And Gemma's norms contain 1 + weight.
 */
export function relayout(config: ModelConfig, name: string, tensor: Tensor, direction: Direction): Tensor {
  if (families[config.model_type].gemmaScaling && name.endsWith("norm.weight")) {
    const step = direction === "to-gguf" ? 1 : -1;
    return { ...tensor, data: tensor.data.map((value) => value + step) };
  }
  const permuted = permutedHeads(config, name);
  const data = permuted && permuteRows(tensor.data, tensor.shape[0]!, permuted, direction);
  return data ? { ...tensor, data } : tensor;
}

/** Converts the layout of a GGUF file's quantized matrix to Hugging Face's. */
export function relayoutQuantized(config: ModelConfig, name: string, matrix: HeldMatrix): HeldMatrix {
  const heads = permutedHeads(config, name);
  if (heads === undefined) return matrix;
  const permute = <Data extends Float32Array | Uint8Array>(data: Data) =>
    permuteRows(data, matrix.shape[0]!, heads, "from-gguf");
  const { values, scales, minimums } = matrix;
  return defined({
    ...matrix,
    values: permute(values),
    scales: permute(scales),
    minimums: minimums && permute(minimums),
  });
}

/** Returns the heads of a weight whose rows have another order on the other side. */
function permutedHeads(
  { model_type: family, num_attention_heads: heads, num_key_value_heads: groups }: ModelConfig,
  name: string,
): number | undefined {
  if (!permutesHeads(family)) return undefined;
  if (name.includes(".q_proj.")) return heads;
  return name.includes(".k_proj.") ? groups : undefined;
}

function permuteRows<Data extends Float32Array | Uint8Array>(
  data: Data,
  rows: number,
  heads: number,
  direction: Direction,
): Data {
  const width = data.length / rows;
  const half = rows / heads / 2;
  const permuted = data.slice();
  for (let row = 0; row < rows; row++) {
    const at = row % (2 * half);
    const paired = row - at + (at % half) * 2 + Math.floor(at / half);
    const [to, from] = direction === "from-gguf" ? [row, paired] : [paired, row];
    permuted.set(data.subarray(from * width, (from + 1) * width), to * width);
  }
  return permuted as Data;
}
