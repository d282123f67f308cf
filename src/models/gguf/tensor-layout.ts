import { families } from "../families.ts";
import type { ModelConfig } from "../model-config.ts";
import type { Tensor } from "../safetensors.ts";

/** Where a weight's values go on the way between GGUF and Hugging Face. */
export type Direction = "from-gguf" | "to-gguf";

/**
 * A weight with Hugging Face's name, laid out for the other side. llama.cpp's converter changes two things: the rows
 * of Llama's queries and keys, whose rotated pairs stand side by side in GGUF and half a head apart in Hugging Face's
 * files; and Gemma's norms, which hold 1 + weight.
 */
export function relayout(config: ModelConfig, name: string, tensor: Tensor, direction: Direction): Tensor {
  const { model_type: family, num_attention_heads: heads, num_key_value_heads: groups } = config;
  if (families[family].gemmaScaling && name.endsWith("norm.weight")) {
    const step = direction === "to-gguf" ? 1 : -1;
    return { ...tensor, data: tensor.data.map((value) => value + step) };
  }
  if (family !== "llama" && family !== "mistral") return tensor;
  if (name.includes(".q_proj.")) return permuteRows(tensor, heads, direction);
  return name.includes(".k_proj.") ? permuteRows(tensor, groups, direction) : tensor;
}

function permuteRows({ shape, data }: Tensor, heads: number, direction: Direction): Tensor {
  const rows = shape[0]!;
  const width = data.length / rows;
  const half = rows / heads / 2;
  const permuted = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const at = row % (2 * half);
    const paired = row - at + (at % half) * 2 + Math.floor(at / half);
    const [to, from] = direction === "from-gguf" ? [row, paired] : [paired, row];
    permuted.set(data.subarray(from * width, (from + 1) * width), to * width);
  }
  return { shape, data: permuted };
}
