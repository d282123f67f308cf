import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ModelConfig, modelConfig } from "../../../../../src/engine/models/config/model-config.ts";
import {
  readModelConfig,
  type SpecialTokenIds,
} from "../../../../../src/engine/models/config/model-config-file.ts";
import { parseRotaryScaling } from "../../../../../src/engine/models/config/parse-rotary-scaling.ts";
import { readWeights } from "../../../../../src/engine/models/weights/checkpoint.ts";
import { configFromMetadata } from "../../../../../src/engine/models/weights/gguf/config-metadata.ts";
import { exportGguf } from "../../../../../src/engine/models/weights/gguf/export-gguf.ts";
import { readGgufHeader } from "../../../../../src/engine/models/weights/gguf/header.ts";
import { importGguf } from "../../../../../src/engine/models/weights/gguf/import-gguf.ts";
import { withFactors } from "../../../../../src/engine/models/weights/gguf/rotary-factors.ts";
import type { GgufValue } from "../../../../../src/engine/models/weights/gguf/value-types.ts";
import { writePolicyFolder } from "../../../../../src/engine/models/weights/policy-folder.ts";
import { randomModelWeights } from "../../../../../src/engine/models/weights/random-weights.ts";
import { loadTokenizer } from "../../../../../src/engine/tokens/tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const tokenizer = join(import.meta.dirname, "../../tokens/fixtures/tokenizer");
const work = temporaryFolder();
const sizes = {
  vocab_size: 350,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 24,
  max_position_embeddings: 64,
};
const all = ["sliding_attention", "sliding_attention"] as const;
const yarn = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 16 };
const llama3 = {
  rope_type: "llama3",
  factor: 32,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
} as const;

const laterGemma = {
  tie_word_embeddings: true,
  head_dim: 8,
  query_pre_attn_scalar: 8,
  sliding_window: 8,
  hidden_act: "gelu_pytorch_tanh",
} as const;
const gemma2 = {
  ...laterGemma,
  model_type: "gemma2",
  layer_types: ["sliding_attention", "full_attention"],
} as const;
const phi = { model_type: "phi3", partial_rotary_factor: 0.75, hidden_size: 16 } as const;
const longRope = (changes: object) => {
  const factors = { short_factor: [1, 1.05, 1.4], long_factor: [1, 2.5, 32] };
  const json = { rope_type: "longrope", original_max_position_embeddings: 16, ...factors, ...changes };
  return parseRotaryScaling(json, { context: 64, size: 6, path: "" });
};
const experts = {
  num_experts: 3,
  num_experts_per_tok: 2,
  moe_intermediate_size: 12,
  norm_topk_prob: true,
  mlp_only_layers: [],
};
const olmoe = {
  model_type: "olmoe",
  num_key_value_heads: 2,
  experts: { ...experts, moe_intermediate_size: sizes.intermediate_size, norm_topk_prob: false },
} as const;

let count = 0;

/** A random policy of a configuration that ends with these tokens, and its GGUF file. */
async function exported(
  changes: Partial<ModelConfig>,
  eos_token_id: SpecialTokenIds["eos_token_id"] = 2,
): Promise<{ folder: string; file: string }> {
  const folder = join(work, `policy-${count++}`);
  const config = modelConfig({ ...sizes, ...changes });
  const tokens = { bos_token_id: null, eos_token_id, pad_token_id: 0 };
  const weights = randomModelWeights(config, 1);
  await writePolicyFolder(folder, { config, weights, tokens, tokenizer });
  await exportGguf(folder, weights, `${folder}.gguf`, "F32");
  return { folder, file: `${folder}.gguf` };
}

test.each<[string, Partial<ModelConfig>]>([
  ["linear scaling", { rope_scaling: { rope_type: "linear", factor: 2.5 } }],
  ["YaRN", { rope_scaling: parseRotaryScaling(yarn, { context: 64, size: 8, path: "" }) }],
  ["Llama 3's scaling", { rope_scaling: llama3, head_dim: 32, rope_theta: 500_000 }],
  ["Mistral's window", { model_type: "mistral", sliding_window: 8, layer_types: all }],
  ["biases of Llama", { attention_bias: true, mlp_bias: true }],
  ["an odd epsilon and base", { rms_norm_eps: 3.3e-5, rope_theta: 12_345.678 }],
  ["Gemma", { model_type: "gemma", tie_word_embeddings: true, head_dim: 8, hidden_act: "gelu_pytorch_tanh" }],
  ["Gemma 2", gemma2],
  [
    "Gemma 3 of 27 billion: its scores' scale, and a scaling of its full layers",
    {
      ...laterGemma,
      model_type: "gemma3_text",
      head_dim: 16,
      query_pre_attn_scalar: 8,
      rope_scaling: { rope_type: "linear", factor: 8 },
      num_hidden_layers: 62,
      layer_types: Array.from({ length: 62 }, (_, layer) => ((layer + 1) % 6 ? all[0] : "full_attention")),
    },
  ],
  ["SmolLM3", { model_type: "smollm3", num_hidden_layers: 4, no_rope_layers: [1, 1, 1, 0] }],
  ["Phi's window and partial rotation", { ...phi, sliding_window: 8, layer_types: all }],
  ["LongRoPE", { ...phi, rope_scaling: longRope({}) }],
  [
    "LongRoPE with an attention factor of its own",
    { ...phi, rope_scaling: longRope({ attention_factor: 1.19 }) },
  ],
  ["experts", { model_type: "qwen3_moe", head_dim: 8, experts }],
  ["experts of OLMoE", olmoe],
])("%s survives GGUF", async (_, changes) => {
  const { folder, file } = await exported(changes);
  const back = `${folder}-back`;
  await mkdir(back);
  await importGguf(file, back);
  expect(await readModelConfig(join(back, "config.json"))).toEqual(
    await readModelConfig(join(folder, "config.json")),
  );
  const [before, after] = await Promise.all([readWeights(folder), readWeights(back)]);
  expect([...after.keys()]).toEqual([...before.keys()]);
  // Gemma's norms pass through 1 + weight
  for (const [name, { data }] of before) {
    const gap = data.reduce(
      (most, value, at) => Math.max(most, Math.abs(value - after.get(name)!.data[at]!)),
      0,
    );
    expect(gap).toBeLessThan(1e-6);
  }
});

test.each<[string, Partial<ModelConfig>]>([
  [
    "a model of the family qwen2 with sliding_window 8",
    { model_type: "qwen2", sliding_window: 8, layer_types: ["full_attention", all[0]] },
  ],
  ['a model of the family llama with hidden_act "gelu"', { hidden_act: "gelu" }],
  ["a model of the family gemma2 with query_pre_attn_scalar 4", { ...gemma2, query_pre_attn_scalar: 4 }],
  [
    "a model of the family gemma2 with attn_logit_softcapping null",
    { ...gemma2, attn_logit_softcapping: null },
  ],
  [
    "a model of the family smollm3 with no_rope_layers [1,0]",
    { model_type: "smollm3", no_rope_layers: [1, 0] },
  ],
  [
    "rope_freqs.weight holds other factors than those of Llama 3",
    { rope_scaling: { ...llama3, high_freq_factor: 8 }, head_dim: 32 },
  ],
  [
    'a model of the family qwen3_moe with experts {"num_experts":3',
    { model_type: "qwen3_moe", head_dim: 8, experts: { ...experts, norm_topk_prob: false } },
  ],
  ["olmoe.attention.head_count_kv is 1, not 2", { ...olmoe, num_key_value_heads: 1 }],
  [
    'a model of the family olmoe with experts {"num_experts":3',
    { ...olmoe, experts: { ...olmoe.experts, norm_topk_prob: true } },
  ],
])("GGUF can't say: %s", async (reason, changes) => {
  await expect(exported(changes)).rejects.toThrow(reason);
});

test.each<[string, string, GgufValue]>([
  ["llama.expert_count is 8, not 0", "llama.expert_count", 8],
  ["llama.rope.dimension_count is 4, not 8", "llama.rope.dimension_count", 4],
  ["llama.attention.value_length is 16, not 8", "llama.attention.value_length", 16],
  ["llama.attention.head_count_kv must be a number, but is [1,2]", "llama.attention.head_count_kv", [1, 2]],
  ['general.architecture is "mamba"', "general.architecture", "mamba"],
])("a model is refused where %s", async (reason, key, value) => {
  const header = readGgufHeader((await exported({})).file);
  header.metadata.set("llama.rope.scaling.factor", 2);
  header.metadata.set(key, value);
  expect(() => configFromMetadata("x.gguf", header)).toThrow(reason);
});

test("a model is refused whose factors of LongRoPE are missing", async () => {
  const header = readGgufHeader((await exported({})).file);
  header.metadata.set("llama.rope.scaling.type", "longrope");
  const config = configFromMetadata("x.gguf", header);
  expect(() => withFactors("x.gguf", header, config, new Map())).toThrow(
    "rope_factors_short.weight is missing",
  );
});

test("what ends an action survives GGUF: eos_token, and two more", async () => {
  const { folder, file } = await exported({}, [2, 5, 7]);
  const { metadata } = readGgufHeader(file);
  const keys = ["eos", "eot", "eom"].map((name) => metadata.get(`tokenizer.ggml.${name}_token_id`));
  expect(keys).toEqual([2, 5, 7]);
  const back = `${folder}-back`;
  await mkdir(back);
  await importGguf(file, back);
  const { eos_token_id } = JSON.parse(await readFile(join(back, "generation_config.json"), "utf8"));
  // and <|endoftext|>, a control token that llama.cpp knows by its text
  expect(eos_token_id).toEqual([2, 5, 7, 0]);
  expect((await loadTokenizer(back)).stopTokens).toEqual([2, 5, 7, 0]);
});
