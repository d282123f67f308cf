import { defined } from "../../src/base/records/defined.ts";
import type { ModelConfig, ModelShape } from "../../src/engine/models/config/model-config.ts";

/** A published model's vocabulary, chat template and sizes. Its weights are random: they can't be had here. */
export interface PublishedShape {
  /** Among llama.cpp's vocabularies. */
  vocabulary: string;
  /** Among llama.cpp's chat templates. */
  template: string;
  config: ModelShape & Partial<ModelConfig>;
}

const qwen: PublishedShape = {
  vocabulary: "qwen2",
  template: "Qwen-Qwen2.5-7B-Instruct",
  config: {
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
  },
};

const qwen3: PublishedShape = {
  vocabulary: "qwen2",
  template: "Qwen-Qwen3-0.6B",
  config: {
    model_type: "qwen3",
    vocab_size: 151_936,
    hidden_size: 1024,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 128,
    intermediate_size: 3072,
    max_position_embeddings: 40_960,
    rope_theta: 1_000_000,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
  },
};

const llama: PublishedShape = {
  vocabulary: "llama-bpe",
  template: "meta-llama-Llama-3.2-3B-Instruct",
  config: {
    model_type: "llama",
    vocab_size: 128_256,
    hidden_size: 2048,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    head_dim: 64,
    intermediate_size: 8192,
    max_position_embeddings: 131_072,
    rope_theta: 500_000,
    rope_scaling: {
      rope_type: "llama3",
      factor: 32,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
    },
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
  },
};

const gemma: PublishedShape = {
  // Gemma 3's own is not among them; this one has as many tokens
  vocabulary: "gemma-4",
  template: "google-gemma-4-31B-it",
  config: {
    model_type: "gemma3_text",
    vocab_size: 262_144,
    hidden_size: 1152,
    num_hidden_layers: 26,
    num_attention_heads: 4,
    num_key_value_heads: 1,
    head_dim: 256,
    intermediate_size: 6912,
    max_position_embeddings: 32_768,
    sliding_window: 512,
    layer_types: Array.from({ length: 26 }, (_, layer) => {
      return layer % 6 === 5 ? "full_attention" : "sliding_attention";
    }),
    query_pre_attn_scalar: 256,
    tie_word_embeddings: true,
  },
};

const olmoe: PublishedShape = {
  // OLMoE's own (GPT-NeoX's) names no way to cut text in llama.cpp's files
  vocabulary: "qwen2",
  template: "Qwen-Qwen2.5-7B-Instruct",
  config: {
    model_type: "olmoe",
    vocab_size: 151_936,
    hidden_size: 2048,
    num_hidden_layers: 16,
    num_attention_heads: 16,
    num_key_value_heads: 16,
    head_dim: 128,
    intermediate_size: 1024,
    experts: {
      num_experts: 64,
      num_experts_per_tok: 8,
      moe_intermediate_size: 1024,
      norm_topk_prob: false,
      mlp_only_layers: [],
    },
    max_position_embeddings: 4096,
    rope_theta: 10_000,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
  },
};

/** The published sizes, by name. */
export const publishedShapes: ReadonlyMap<string, PublishedShape> = new Map([
  ["qwen2.5-0.5b", qwen],
  ["qwen3-0.6b", qwen3],
  ["llama-3.2-1b", llama],
  ["gemma-3-1b", gemma],
  ["olmoe-1b-7b", olmoe],
]);

/** The same with one narrow layer, or more: whole vocabulary, template and family, but a test's time and memory. */
export function narrowed({ config, ...rest }: PublishedShape, count = 1): PublishedShape {
  const { layer_types: types, experts, num_attention_heads: all, num_key_value_heads: groups } = config;
  const heads = { num_attention_heads: 2, num_key_value_heads: groups === all ? 2 : 1, head_dim: 16 };
  const layers = defined<Partial<ModelConfig>>({
    num_hidden_layers: count,
    layer_types: types?.slice(0, count),
  });
  return {
    ...rest,
    config: {
      ...config,
      ...heads,
      ...layers,
      hidden_size: 32,
      intermediate_size: 48,
      ...(experts && { experts: { ...experts, moe_intermediate_size: 48 } }),
      query_pre_attn_scalar: 16,
    },
  };
}
