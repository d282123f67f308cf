import { mkdtemp, open } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { CachedDecoder } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { decoderForward } from "../../../../src/engine/models/graph/decoder.ts";
import { languageModelHead } from "../../../../src/engine/models/graph/decoder-blocks.ts";
import { decoderInputs } from "../../../../src/engine/models/graph/decoder-inputs.ts";
import { rotaryTables } from "../../../../src/engine/models/graph/rotary-tables.ts";
import type { FloatType } from "../../../../src/engine/models/weights/float-types.ts";
import { modelWeightShapes, weightInputs } from "../../../../src/engine/models/weights/model-weights.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import {
  readSafetensors,
  type Tensor,
  writeSafetensors,
} from "../../../../src/engine/models/weights/safetensors.ts";
import { readSafetensorsHeader } from "../../../../src/engine/models/weights/safetensors-header.ts";
import type { WeightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { logSoftmax } from "../../../../src/engine/onnx/reductions.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { relativeError } from "../../torch-fixtures.ts";

const work = temporaryFolder();

const sizes = {
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  intermediate_size: 48,
  max_position_embeddings: 96,
  initializer_range: 0.3,
};
const sequences = [40, 3, 17, 64].map((length, row) =>
  Array.from({ length }, (_, at) => (at * 13 + row * 29 + 7 * at * at) % 50),
);
const models: CachedDecoder[] = [];

afterAll(async () => {
  for (const model of models) await model.close();
});

/** Log-probabilities after every token of whole sequences, by the forward pass that training uses. */
async function trainingLogProbabilities(config: ModelConfig, weights: Map<string, Tensor>) {
  const graph = createGraph();
  const model = {
    config,
    weights: weightInputs(graph, modelWeightShapes(config)),
    tables: rotaryTables(graph, config),
  };
  graph.output(
    "logprobs",
    logSoftmax(languageModelHead(model, decoderForward(model, decoderInputs(graph, config)))),
  );
  const session = await createModelSession(modelBytes(graph));
  const whole = sequences.map((tokens) => ({ tokens: [...tokens, 0], mask: [0, ...tokens.map(() => 1)] }));
  const {
    targets: _,
    inverseTemperature: _temperature,
    ...feeds
  } = batchFeeds(batchSequences(whole, config));
  const outputs = await session.run({ ...Object.fromEntries(weights), ...feeds });
  const logprobs = outputs.floats("logprobs").slice();
  await session.close();
  const starts = sequences.map((_tokens, row) =>
    sequences.slice(0, row).reduce((total, { length }) => total + length, 0),
  );
  return (row: number, at: number) =>
    logprobs.subarray((starts[row]! + at) * 50, (starts[row]! + at + 1) * 50);
}

/** Reads all sequences in parts of `part` tokens with a cache; returns the logits after each part's last token. */
async function readInParts(config: ModelConfig, sources: WeightSources, part: number) {
  const model = await createCachedDecoder(config, sources, { threads: 1 });
  models.push(model);
  const cache = createDecoderCache(model);
  const found: { row: number; at: number; logits: Float32Array }[] = [];
  for (let start = 0; start < 64; start += part) {
    cache.arrange(
      [0, 1, 2, 3],
      sequences.map(() => start + part),
    );
    const lengths = sequences.map((sequence) => Math.min(start, sequence.length));
    const fresh = sequences.map((sequence) => sequence.slice(start, start + part));
    const padded = fresh.map((tokens) => (tokens.length === 0 ? [0] : tokens));
    const past = { ...cache.view(0, 4), capacity: cache.capacity(), lengths };
    const { logits } = await model.run({ tokens: padded, past });
    fresh.forEach(({ length: count }, row) => {
      if (count === 0) return;
      found.push({ row, at: start + count - 1, logits: logits.slice(row * 50, (row + 1) * 50) });
    });
  }
  return found;
}

const partly: Partial<ModelConfig> = { model_type: "phi3", partial_rotary_factor: 0.5 };
const alternating: Partial<ModelConfig> = {
  sliding_window: 9,
  layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
};
const capped: Partial<ModelConfig> = {
  model_type: "gemma2",
  query_pre_attn_scalar: 10,
  attn_logit_softcapping: 2,
  final_logit_softcapping: 3,
  ...alternating,
};

const experts = {
  num_experts: 5,
  num_experts_per_tok: 2,
  moe_intermediate_size: 12,
  norm_topk_prob: false,
  mlp_only_layers: [0],
};

const olmoe = {
  model_type: "olmoe",
  intermediate_size: 12,
  experts: { ...experts, mlp_only_layers: [] },
} as const;

const variants: [string, Partial<ModelConfig>][] = [
  ["grouped keys and values, tied embeddings", { num_key_value_heads: 2, tie_word_embeddings: true }],
  ["a key and value head for each query head", { num_key_value_heads: 4 }],
  ["one key and value head", { num_key_value_heads: 1, rope_theta: 500 }],
  ["heads of 16, in place", { num_key_value_heads: 2, head_dim: 16 }],
  ["heads of 32 with norms, in place", { model_type: "qwen3", num_key_value_heads: 2, head_dim: 32 }],
  [
    "a window, in place",
    {
      model_type: "mistral",
      num_key_value_heads: 2,
      head_dim: 16,
      sliding_window: 9,
      layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
    },
  ],
  [
    "layers without RoPE, in place",
    { model_type: "smollm3", num_key_value_heads: 2, head_dim: 16, no_rope_layers: [1, 0, 1] },
  ],
  ["a mixture of experts", { model_type: "qwen3_moe", num_key_value_heads: 2, head_dim: 8, experts }],
  [
    "a mixture of experts, in place",
    { model_type: "qwen3_moe", num_key_value_heads: 2, head_dim: 16, experts },
  ],
  ["norms of whole rows and experts in each layer", { ...olmoe, num_key_value_heads: 2, head_dim: 8 }],
  [
    "norms of whole rows and experts in each layer, in place",
    { ...olmoe, num_key_value_heads: 2, head_dim: 16 },
  ],
  ["a part of each head rotated", { ...partly, num_key_value_heads: 2, head_dim: 8 }],
  ["a part of each head rotated, in place", { ...partly, num_key_value_heads: 2, head_dim: 32 }],
  [
    "a part of each head rotated that the operator doesn't take",
    { ...partly, num_key_value_heads: 2, head_dim: 16 },
  ],
  ["capped scores and logits", { ...capped, num_key_value_heads: 2, head_dim: 8 }],
  ["capped scores and logits, in place", { ...capped, num_key_value_heads: 2, head_dim: 16 }],
  [
    "a base of their own for layers with a window, in place",
    {
      model_type: "gemma3_text",
      num_key_value_heads: 2,
      head_dim: 16,
      query_pre_attn_scalar: 10,
      local_rope: { rope_theta: 100, rope_scaling: { rope_type: "linear", factor: 2 } },
      ...alternating,
    },
  ],
];

test.each(variants)("reading with a cache agrees with the training forward: %s", async (_, settings) => {
  const config = modelConfig({ ...sizes, ...settings });
  const weights = randomModelWeights(config, 3);
  const expected = await trainingLogProbabilities(config, weights);
  for (const part of [1, 7, 64]) {
    for (const { row, at, logits } of await readInParts(config, { tensors: weights }, part)) {
      const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
      const gaps = [...expected(row, at)].map((logprob, token) => Math.abs(logits[token]! - total - logprob));
      expect(Math.max(...gaps)).toBeLessThan(1e-4);
    }
  }
});

test.each<[FloatType, number]>([
  ["BF16", 8],
  ["BF16", 16],
  ["F16", 16],
])("weights of %s that stay in their file give what they give widened: heads of %d", async (dtype, size) => {
  const config = modelConfig({ ...sizes, num_key_value_heads: 2, head_dim: size });
  const folder = await mkdtemp(join(work, dtype));
  const path = join(folder, "model.safetensors");
  await writeSafetensors(path, randomModelWeights(config, 3), { dtype });
  const file = await open(path);
  const header = await readSafetensorsHeader(path, file);
  await file.close();
  const stored = [...header].map(([name, { shape, begin }]) => {
    return [name, { dtype, shape, file: "model.safetensors", offset: begin }] as const;
  });
  const widened = await readInParts(config, { tensors: await readSafetensors(path) }, 7);
  const mapped = await readInParts(config, { folder, tensors: new Map(stored) }, 7);
  expect(mapped.length).toBe(widened.length);
  mapped.forEach(({ logits }, at) => {
    expect(relativeError(logits, widened[at]!.logits)).toBeLessThan(1e-5);
  });
});

test("refuses weights that are not those of the configuration", async () => {
  const config = modelConfig(sizes);
  const weights = randomModelWeights({ ...config, intermediate_size: 40 }, 3);
  await expect(createCachedDecoder(config, { tensors: weights }, { threads: 1 })).rejects.toThrow(
    "mlp.gate_proj.weight should be [48, 32]",
  );
});
