import { afterAll, expect, test } from "vitest";
import { type CachedLlama, createCachedLlama } from "../../../src/models/cached-llama.ts";
import { llamaForward } from "../../../src/models/llama.ts";
import { languageModelHead, rotaryTables } from "../../../src/models/llama-blocks.ts";
import { type LlamaConfig, llamaConfig } from "../../../src/models/llama-config.ts";
import { llamaWeightShapes, randomLlamaWeights, weightInputs } from "../../../src/models/llama-weights.ts";
import type { Tensor } from "../../../src/models/safetensors.ts";
import { createGraph } from "../../../src/onnx/graph.ts";
import { modelBytes } from "../../../src/onnx/model-bytes.ts";
import { logSoftmax } from "../../../src/onnx/reductions.ts";
import { createSession } from "../../../src/onnx/session.ts";
import { createKeyValueCache } from "../../../src/sampling/key-value-cache.ts";

const shape = {
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
const models: CachedLlama[] = [];

afterAll(async () => {
  for (const model of models) await model.close();
});

/** Log-probabilities after every token of whole sequences, by the forward pass that training uses. */
async function trainingLogProbabilities(config: LlamaConfig, weights: Map<string, Tensor>) {
  const graph = createGraph();
  const model = {
    config,
    weights: weightInputs(graph, llamaWeightShapes(config)),
    tables: rotaryTables(graph, config),
  };
  const tokens = graph.input("tokens", "int64", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const rows = graph.input("rows", "int64", ["rows"]);
  const normed = llamaForward(model, { tokens, positions, rows });
  graph.output("logprobs", logSoftmax(languageModelHead(model, normed)));
  const session = await createSession(modelBytes(graph));
  const length = Math.max(...sequences.map((sequence) => sequence.length));
  const padded = sequences.flatMap((sequence) =>
    Array.from({ length }, (_, at) => BigInt(sequence[at] ?? 0)),
  );
  const places = padded.map((_, at) => BigInt(at % length));
  const size = [sequences.length, length];
  const outputs = await session.run({
    ...Object.fromEntries(weights),
    tokens: { shape: size, data: BigInt64Array.from(padded) },
    positions: { shape: size, data: BigInt64Array.from(places) },
    rows: { shape: [padded.length], data: BigInt64Array.from(padded.keys(), BigInt) },
  });
  const logprobs = outputs.floats("logprobs").slice();
  await session.close();
  return (row: number, at: number) =>
    logprobs.subarray((row * length + at) * 50, (row * length + at + 1) * 50);
}

/** Reads all sequences in parts of `part` tokens with a cache; returns the logits after each part's last token. */
async function readInParts(config: LlamaConfig, weights: Map<string, Tensor>, part: number) {
  const model = await createCachedLlama(config, weights, 2);
  models.push(model);
  const { layers, keyValueHeads: heads, headSize } = model;
  const cache = createKeyValueCache({ rows: 4, layers, heads, headSize });
  const found: { row: number; at: number; logits: Float32Array }[] = [];
  for (let start = 0; start < 64; start += part) {
    cache.resize(start + part);
    const lengths = sequences.map((sequence) => Math.min(start, sequence.length));
    const fresh = sequences.map((sequence) => sequence.slice(start, start + part));
    const padded = fresh.map((tokens) => (tokens.length === 0 ? [0] : tokens));
    const output = await model.run(padded, { ...cache.view(4), capacity: cache.capacity(), lengths });
    fresh.forEach(({ length: count }, row) => {
      if (count === 0) return;
      cache.write(row, start, output, { row, length: output.length, count });
      found.push({ row, at: start + count - 1, logits: output.logits.slice(row * 50, (row + 1) * 50) });
    });
  }
  return found;
}

test.each([
  ["grouped keys and values, tied embeddings", { num_key_value_heads: 2, tie_word_embeddings: true }],
  ["a key and value head for each query head", { num_key_value_heads: 4 }],
  ["one key and value head", { num_key_value_heads: 1, rope_theta: 500 }],
])("reading with a cache agrees with the training forward: %s", async (_, settings) => {
  const config = llamaConfig({ ...shape, ...settings });
  const weights = randomLlamaWeights(config, 3);
  const expected = await trainingLogProbabilities(config, weights);
  for (const part of [1, 7, 64]) {
    for (const { row, at, logits } of await readInParts(config, weights, part)) {
      const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
      const gaps = [...expected(row, at)].map((logprob, token) => Math.abs(logits[token]! - total - logprob));
      expect(Math.max(...gaps)).toBeLessThan(1e-4);
    }
  }
});

test("refuses weights that are not those of the configuration", async () => {
  const config = llamaConfig(shape);
  const weights = randomLlamaWeights({ ...config, intermediate_size: 40 }, 3);
  await expect(createCachedLlama(config, weights, 1)).rejects.toThrow(
    "mlp.gate_proj.weight should be [48, 32]",
  );
});
