import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { EverturnError } from "../../errors/everturn-error.ts";
import { loadTokenizer } from "../../tokens/tokenizer.ts";
import { families } from "../families.ts";
import type { FloatType } from "../float-types.ts";
import type { ModelConfig } from "../model-config.ts";
import { readModelConfig } from "../model-config-file.ts";
import { checkModelWeights, modelWeightShapes } from "../model-weights.ts";
import type { Tensor } from "../safetensors.ts";
import { architectures } from "./config-metadata.ts";
import { llama3Factors } from "./rotary-factors.ts";
import { relayout } from "./tensor-layout.ts";
import { ggufName } from "./tensor-names.ts";
import { tokenizerMetadata } from "./tokenizer-metadata.ts";
import { type PlannedTensor, type TypedValue, writeGguf } from "./writer.ts";

/** llama.cpp's numbers for what most of a file's tensors are (general.file_type). */
const fileTypes: Readonly<Record<FloatType, number>> = { F32: 0, F16: 1, BF16: 32 };

/**
 * Writes the model in `folder`, with `weights`, as a GGUF file whose matrices are of `dtype` (norms and biases stay
 * float32, as llama.cpp has them). Throws GGUF_EXPORT_FAILED for what GGUF can't say.
 */
export async function exportGguf(
  folder: string,
  weights: ReadonlyMap<string, Tensor>,
  path: string,
  dtype: FloatType,
): Promise<void> {
  const config = await readModelConfig(join(folder, "config.json"));
  checkModelWeights(config, weights);
  const { specialTokens, stopTokens, chatTemplate } = await loadTokenizer(folder);
  const json = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8"));
  const tokenizer = tokenizerMetadata({ json, specialTokens, stopTokens, chatTemplate }, config.vocab_size);
  if (typeof tokenizer === "string") throw failed(folder, tokenizer);
  const metadata = new Map([...modelMetadata(folder, config, dtype), ...tokenizer]);
  await writeGguf(path, metadata, [...factors(config), ...planTensors(config, weights, dtype)]);
}

function modelMetadata(folder: string, config: ModelConfig, dtype: FloatType): Map<string, TypedValue> {
  const { model_type, rope_scaling: scaling } = config;
  const family = model_type === "mistral" ? "llama" : model_type;
  if (!architectures.includes(family)) throw failed(folder, `a ${model_type} model can't be written as GGUF`);
  if (config.hidden_act !== families[model_type].activation) {
    throw failed(folder, `a ${model_type} model with hidden_act ${config.hidden_act} has no place in GGUF`);
  }
  if (config.sliding_window !== null && config.layer_types.some((type) => type !== "sliding_attention")) {
    throw failed(folder, "only some of its layers have a sliding window");
  }
  if (config.sliding_window !== null && family !== "llama") {
    throw failed(folder, `a ${family} model with a sliding window has no place in GGUF`);
  }
  const count = (value: number): TypedValue => ({ type: "uint32", value });
  const real = (value: number): TypedValue => ({ type: "float32", value });
  const text = (value: string): TypedValue => ({ type: "string", value });
  const entries: [string, TypedValue][] = [
    ["block_count", count(config.num_hidden_layers)],
    ["context_length", count(config.max_position_embeddings)],
    ["embedding_length", count(config.hidden_size)],
    ["feed_forward_length", count(config.intermediate_size)],
    ["attention.head_count", count(config.num_attention_heads)],
    ["attention.head_count_kv", count(config.num_key_value_heads)],
    ["attention.key_length", count(config.head_dim)],
    ["attention.value_length", count(config.head_dim)],
    ["attention.layer_norm_rms_epsilon", real(config.rms_norm_eps)],
    ["rope.dimension_count", count(config.head_dim)],
    ["rope.freq_base", real(config.rope_theta)],
    ["vocab_size", count(config.vocab_size)],
  ];
  if (config.sliding_window !== null)
    entries.push(["attention.sliding_window", count(config.sliding_window)]);
  if (scaling.rope_type === "linear" || scaling.rope_type === "yarn") {
    entries.push(
      ["rope.scaling.type", text(scaling.rope_type)],
      ["rope.scaling.factor", real(scaling.factor)],
    );
  }
  if (scaling.rope_type === "yarn") {
    entries.push(["rope.scaling.original_context_length", count(scaling.original_max_position_embeddings)]);
  }
  return new Map<string, TypedValue>([
    ["general.architecture", text(family)],
    ["general.type", text("model")],
    ["general.name", text(basename(folder))],
    ["general.file_type", count(fileTypes[dtype])],
    ...entries.map(([key, value]): [string, TypedValue] => [`${family}.${key}`, value]),
  ]);
}

/** The scaling of a Llama 3, which GGUF keeps as a tensor. */
function factors({ head_dim, rope_theta, rope_scaling }: ModelConfig): PlannedTensor[] {
  if (rope_scaling.rope_type !== "llama3") return [];
  const data = llama3Factors(head_dim, rope_theta, rope_scaling);
  const shape = [data.length];
  return [{ name: "rope_freqs.weight", shape, dtype: "F32", load: () => ({ shape, data }) }];
}

function planTensors(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
  dtype: FloatType,
): PlannedTensor[] {
  return [...modelWeightShapes(config)].map(([name, shape]) => ({
    name: ggufName(name),
    shape,
    dtype: shape.length === 1 ? "F32" : dtype,
    load: () => relayout(config, name, weights.get(name)!, "to-gguf"),
  }));
}

function failed(folder: string, reason: string): EverturnError {
  return new EverturnError("GGUF_EXPORT_FAILED", { folder, reason });
}
