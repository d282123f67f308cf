import { type ModelConfig, modelConfig } from "../src/engine/models/config/model-config.ts";

/** The sizes of models that benchmarks run. */
export const shapes = ["tiny", "small", "smol-135m"] as const;

/** Those for a card: SmolLM2-135M's and Qwen2.5-0.5B's. */
export const gpuShapes = ["smol-135m", "qwen-0.5b"] as const;

/** Those that people train adapters of: Qwen2.5-0.5B's, Llama-3.2-1B's and Qwen2.5-1.5B's. */
export const realShapes = ["qwen-0.5b", "llama-1b", "qwen-1.5b"] as const;

/** One of the sizes. */
export type ShapeName = (typeof shapes)[number] | (typeof gpuShapes)[number] | (typeof realShapes)[number];

/** The configuration of each size. */
export const configs: Readonly<Record<ShapeName, ModelConfig>> = {
  tiny: modelConfig({
    vocab_size: 512,
    hidden_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 192,
    max_position_embeddings: 512,
    tie_word_embeddings: true,
  }),
  small: modelConfig({
    vocab_size: 4096,
    hidden_size: 256,
    num_hidden_layers: 6,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    intermediate_size: 768,
    max_position_embeddings: 512,
    tie_word_embeddings: true,
  }),
  "smol-135m": modelConfig({
    vocab_size: 49_152,
    hidden_size: 576,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    intermediate_size: 1536,
    max_position_embeddings: 8192,
    rope_theta: 100_000,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
  }),
  "qwen-0.5b": modelConfig({
    model_type: "qwen2",
    vocab_size: 151_936,
    hidden_size: 896,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    intermediate_size: 4864,
    max_position_embeddings: 32_768,
    rope_theta: 1_000_000,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
  }),
  "llama-1b": modelConfig({
    vocab_size: 128_256,
    hidden_size: 2048,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    head_dim: 64,
    intermediate_size: 8192,
    max_position_embeddings: 131_072,
    rope_theta: 500_000,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
  }),
  "qwen-1.5b": modelConfig({
    model_type: "qwen2",
    vocab_size: 151_936,
    hidden_size: 1536,
    num_hidden_layers: 28,
    num_attention_heads: 12,
    num_key_value_heads: 2,
    intermediate_size: 8960,
    max_position_embeddings: 32_768,
    rope_theta: 1_000_000,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
  }),
};

/** Median of numbers; of an even count, the upper of the two in the middle. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
