import { expect, test } from "vitest";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import {
  formatModelConfig,
  parseModelConfig,
} from "../../../../src/engine/models/config/model-config-file.ts";
import { checkModelWeights } from "../../../../src/engine/models/weights/model-weights.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";

const config = modelConfig({
  vocab_size: 100,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 96,
  max_position_embeddings: 128,
});

const longRope = {
  rope_type: "longrope",
  factor: 8,
  original_max_position_embeddings: 16,
  attention_factor: 1.5,
  short_factor: [1, 1.1, 1.2, 1.3],
  long_factor: [1, 2, 3, 4],
} as const;
const windows: Partial<ModelConfig> = {
  sliding_window: 8,
  layer_types: ["sliding_attention", "full_attention"],
};

const tokens = { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 };

test.each<[string, Partial<ModelConfig>]>([
  ["a Llama", {}],
  ["a SmolLM3", { model_type: "smollm3", no_rope_layers: [1, 0], tie_word_embeddings: false }],
  ["a Phi", { model_type: "phi3", partial_rotary_factor: 0.5, rope_scaling: longRope }],
  [
    "a Qwen3 with experts",
    {
      model_type: "qwen3_moe",
      experts: {
        num_experts: 4,
        num_experts_per_tok: 2,
        moe_intermediate_size: 8,
        norm_topk_prob: true,
        mlp_only_layers: [1],
      },
    },
  ],
  [
    "an OLMoE",
    {
      model_type: "olmoe",
      experts: {
        num_experts: 4,
        num_experts_per_tok: 2,
        norm_topk_prob: false,
        mlp_only_layers: [],
        moe_intermediate_size: config.intermediate_size,
      },
    },
  ],
  [
    "a Gemma 2",
    { ...windows, model_type: "gemma2", attn_logit_softcapping: null, query_pre_attn_scalar: 24 },
  ],
  [
    "a Gemma 3",
    {
      ...windows,
      model_type: "gemma3_text",
      final_logit_softcapping: 20,
      hidden_act: "gelu",
      rope_scaling: { rope_type: "linear", factor: 8 },
      local_rope: { rope_theta: 500, rope_scaling: { rope_type: "linear", factor: 2 } },
    },
  ],
])("the configuration of %s survives writing and reading", (_, settings) => {
  const written = modelConfig({ ...config, ...settings });
  expect(parseModelConfig(formatModelConfig(written, tokens), "config.json")).toEqual(written);
});

test("a configuration names kinds of layers where a family's may differ, and nowhere else", () => {
  const written = (family: ModelConfig["model_type"]) =>
    JSON.parse(formatModelConfig(modelConfig({ ...config, model_type: family }), tokens));
  expect(written("llama")).not.toHaveProperty("layer_types");
  expect(written("mistral")).not.toHaveProperty("layer_types");
  expect(written("qwen3").layer_types).toEqual(["full_attention", "full_attention"]);
});

/** The configuration without what the families differ in. */
const bare = Object.fromEntries(
  Object.entries(config).filter(
    ([name]) => !/^(hidden_act|sliding_window|layer_types|rope_|local_rope|query_|attn_|final_)/.test(name),
  ),
);
const rotary = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 };

test.each<[string, Record<string, unknown>, Partial<ModelConfig>]>([
  ["gelu is GELU itself", { hidden_act: "gelu" }, { hidden_act: "gelu" }],
  [
    "but in Gemma its approximation",
    { model_type: "gemma", hidden_act: "gelu" },
    { hidden_act: "gelu_pytorch_tanh" },
  ],
  ["gelu_new is that too", { hidden_act: "gelu_new" }, { hidden_act: "gelu_pytorch_tanh" }],
  ["swish is SiLU", { hidden_act: "swish" }, { hidden_act: "silu" }],
  ["no activation is the family's", { model_type: "qwen2" }, { hidden_act: "silu" }],
  ["a Mistral's window is 4,096 unless it says null", { model_type: "mistral" }, { sliding_window: 4096 }],
  ["or null", { model_type: "mistral", sliding_window: null }, { sliding_window: null }],
  [
    "a Qwen's window counts if it says so",
    { model_type: "qwen3", use_sliding_window: true, max_window_layers: 1 },
    { sliding_window: 4096, layer_types: ["full_attention", "sliding_attention"] },
  ],
  ["else not", { model_type: "qwen2", sliding_window: 8 }, { sliding_window: null }],
  ["a Llama has none", { use_sliding_window: true, sliding_window: 8 }, { sliding_window: null }],
  ["biases of attention", { attention_bias: true, mlp_bias: true }, { attention_bias: true, mlp_bias: true }],
  ["which a Mistral lacks", { model_type: "mistral", attention_bias: true }, { attention_bias: false }],
  ["tied embeddings", { tie_word_embeddings: true }, { tie_word_embeddings: true }],
  [
    "the base among RoPE's parameters goes first",
    { rope_theta: 7, rope_parameters: { rope_theta: 9 } },
    { rope_theta: 9 },
  ],
  [
    "rope_scaling goes before rope_parameters, whole",
    { rope_scaling: { type: "linear", factor: 2 }, rope_parameters: { rope_theta: 9 } },
    { rope_theta: 10_000, rope_scaling: { rope_type: "linear", factor: 2 } },
  ],
  [
    "an original context outside of RoPE's parameters goes first",
    { rope_scaling: rotary, original_max_position_embeddings: 32 },
    { rope_scaling: { ...rotary, rope_type: "llama3", original_max_position_embeddings: 32 } },
  ],
  [
    "a Qwen3 with experts has them in each decoder_sparse_step-th layer",
    {
      model_type: "qwen3_moe",
      num_hidden_layers: 3,
      decoder_sparse_step: 2,
      num_local_experts: 4,
      num_experts_per_tok: 2,
    },
    {
      experts: {
        num_experts: 4,
        num_experts_per_tok: 2,
        moe_intermediate_size: 768,
        norm_topk_prob: false,
        mlp_only_layers: [0, 2],
      },
    },
  ],
  [
    "an OLMoE in all of them, as large as the feed-forward block would be",
    { model_type: "olmoe", mlp_only_layers: [0], decoder_sparse_step: 2 },
    {
      experts: {
        num_experts: 64,
        num_experts_per_tok: 8,
        moe_intermediate_size: 96,
        norm_topk_prob: false,
        mlp_only_layers: [],
      },
    },
  ],
  ["or none", { model_type: "qwen3_moe", num_experts: 0 }, { experts: null }],
  [
    "every fourth layer of a SmolLM3 has no RoPE",
    { model_type: "smollm3", num_hidden_layers: 5 },
    { no_rope_layers: [1, 1, 1, 0, 1], rope_theta: 2_000_000, sliding_window: null },
  ],
  [
    "which are those with its window",
    { model_type: "smollm3", no_rope_layers: [0, 1, 1], use_sliding_window: true, sliding_window: 9 },
    { no_rope_layers: [0, 1], layer_types: ["sliding_attention", "full_attention"] },
  ],
  [
    "a Gemma 2 has caps and a window in every other layer",
    { model_type: "gemma2", num_hidden_layers: 3 },
    {
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
      query_pre_attn_scalar: 256,
      sliding_window: 4096,
      layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
    },
  ],
  [
    "unless it says null",
    { model_type: "gemma2", attn_logit_softcapping: null },
    { attn_logit_softcapping: null },
  ],
  [
    "a Gemma 3 has a global layer after each five, with a base of its own and the scaling",
    {
      model_type: "gemma3_text",
      num_hidden_layers: 6,
      rope_theta: 7,
      rope_local_base_freq: 5,
      rope_scaling: { rope_type: "linear", factor: 8 },
    },
    {
      rope_theta: 7,
      rope_scaling: { rope_type: "linear", factor: 8 },
      final_logit_softcapping: null,
      local_rope: { rope_theta: 5, rope_scaling: { rope_type: "default" } },
      layer_types: [...Array<"sliding_attention">(5).fill("sliding_attention"), "full_attention"],
    },
  ],
  [
    "a Phi's yarn and su are LongRoPE",
    {
      model_type: "phi3",
      partial_rotary_factor: 0.5,
      original_max_position_embeddings: 32,
      rope_scaling: { type: "su", short_factor: [1, 1, 1, 1], long_factor: [2, 2, 2, 2] },
    },
    {
      partial_rotary_factor: 0.5,
      rope_scaling: {
        rope_type: "longrope",
        factor: 4,
        original_max_position_embeddings: 32,
        attention_factor: Math.sqrt(1 + Math.log(4) / Math.log(32)),
        short_factor: [1, 1, 1, 1],
        long_factor: [2, 2, 2, 2],
      },
    },
  ],
])("as transformers reads config.json: %s", (_, json, expected) => {
  const text = JSON.stringify({ ...bare, ...json });
  expect(parseModelConfig(text, "config.json")).toMatchObject(expected);
});

test.each([
  ["not JSON", "config.json is not JSON"],
  ["[]", "config.json is not a JSON object"],
  [
    '{"model_type": "gpt2"}',
    'model_type is "gpt2"; known are llama, mistral, qwen2, qwen3, qwen3_moe, olmoe, smollm3, phi3, gemma, gemma2, gemma3_text',
  ],
  ['{"model_type": "llama", "hidden_act": "relu"}', 'hidden_act "relu" is not supported'],
  ['{"model_type": "llama", "quantization_config": {}}', "quantization_config {} is not supported"],
  ['{"model_type": "llama"}', "hidden_size must be a number"],
  [
    JSON.stringify({ ...bare, rope_scaling: { rope_type: "dynamic", factor: 2 } }),
    'rope_parameters.rope_type "dynamic" is not supported',
  ],
  [JSON.stringify({ ...bare, layer_types: ["linear"] }), 'layer_types holds "linear"'],
  [
    JSON.stringify({ ...bare, layer_types: ["sliding_attention", "full_attention"] }),
    'layer_types holds "sliding_attention", which is not supported in a llama model',
  ],
  [
    JSON.stringify({ ...bare, model_type: "mistral", sliding_window: 8, layer_types: ["full_attention"] }),
    'layer_types holds "full_attention", which is not supported in a mistral model',
  ],
  [
    JSON.stringify({ ...bare, rope_parameters: { full_attention: { rope_type: "linear", factor: 2 } } }),
    "rope_parameters.full_attention, parameters of some layers alone, is not supported",
  ],
  ['{"model_type": "gemma", "final_logit_softcapping": 30}', "final_logit_softcapping 30 is not supported"],
  ['{"model_type": "gemma", "attn_logit_softcapping": 50}', "attn_logit_softcapping 50 is not supported"],
  ['{"model_type": "gemma", "query_pre_attn_scalar": 256}', "query_pre_attn_scalar 256 is not supported"],
  [
    '{"model_type": "gemma3_text", "attn_logit_softcapping": 50}',
    "attn_logit_softcapping 50 is not supported",
  ],
  [
    JSON.stringify({ ...bare, model_type: "qwen3_moe", num_experts: 4 }),
    "num_experts_per_tok (8) must be 1 to num_experts (4)",
  ],
  ['{"model_type": "olmoe", "clip_qkv": 8}', "clip_qkv 8 is not supported"],
  ['{"model_type": "llama", "partial_rotary_factor": 0.5}', "partial_rotary_factor 0.5 is not supported"],
  ['{"model_type": "phi3", "resid_pdrop": 0.1}', "resid_pdrop 0.1 is not supported"],
  [
    JSON.stringify({ ...bare, model_type: "phi3", rope_scaling: { type: "longrope", short_factor: [1] } }),
    "rope_parameters.short_factor must be a list of 8 numbers",
  ],
  [
    JSON.stringify({ ...bare, model_type: "phi3", rope_scaling: { type: "linear", factor: 2 } }),
    'rope_parameters.rope_type "linear" is not supported in a phi3 model',
  ],
  [
    JSON.stringify({ ...bare, model_type: "smollm3", no_rope_layers: [1] }),
    "no_rope_layers has 1 entries for 2 layers",
  ],
  ['{"model_type": "gemma", "hidden_activation": "relu"}', 'hidden_activation "relu" is not supported'],
])("the configuration %s is refused", (text, message) => {
  expect(() => parseModelConfig(text, "config.json")).toThrow(message);
});

test("sizes that don't fit are refused", () => {
  expect(() => modelConfig({ ...config, num_key_value_heads: 3 })).toThrow("(3) doesn't divide 4 heads");
  expect(() => modelConfig({ ...config, head_dim: 15 })).toThrow("must be an even number");
  expect(() => modelConfig({ ...config, vocab_size: 0 })).toThrow("vocab_size is 0, but must be above 0");
  const weights = randomModelWeights(config, 1);
  weights.delete("lm_head.weight");
  expect(() => checkModelWeights(config, weights)).toThrow(
    "lm_head.weight should be [100, 64], but is missing",
  );
});
