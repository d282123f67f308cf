import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { DecoderOptions } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { firstScales, measureScales } from "../../../../src/engine/models/decode/key-value-scales.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { createBoundSession } from "../../../../src/engine/onnx/bound-session.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { groupQueryAttention } from "../../../../src/engine/onnx/group-query-attention.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { noise } from "../onnx/finite-differences.ts";

const shape = {
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 48,
  max_position_embeddings: 256,
  initializer_range: 0.1,
};
const tokensOf = (length: number, seed: number) =>
  Array.from({ length }, (_, at) => (at * 13 + seed * 29 + 7 * at * at) % 50);
const rounded = (value: number, scale: number) => Math.max(-128, Math.min(127, Math.round(value / scale)));

test("scales find what each channel wants, from 0.0001 to 300 and always 0", async () => {
  const config = modelConfig({ ...shape, num_hidden_layers: 1, head_dim: 4 });
  const largest = [1e-4, 0.03, 1, 5, 16, 17, 300, 0];
  const [heads, size, capacity, count] = [2, 4, 10, 7];
  /** Past `count` there is what must not count. */
  const numbers = Float32Array.from({ length: heads * capacity * size }, (_, index) => {
    const [head, at] = [Math.floor(index / (capacity * size)), Math.floor(index / size) % capacity];
    if (at >= count) return 1e4;
    return (at % 2 ? -1 : 1) * largest[head * size + (index % size)]! * ((at + 1) / count);
  });
  const scales = firstScales(config);
  const roundedBy = (channels: Float32Array) =>
    Int8Array.from(numbers, (value, index) =>
      rounded(value, channels[Math.floor(index / (capacity * size)) * size + (index % size)]!),
    );
  await measureScales(config, scales, count, async () => ({
    keys: scales.keys.map(roundedBy),
    values: scales.values.map(roundedBy),
  }));
  for (const channels of [...scales.keys, ...scales.values]) {
    channels.forEach((scale, channel) => {
      const most = largest[channel]! / scale;
      expect(scale).toBeGreaterThan(0);
      if (largest[channel]! > 0) expect(most).toBeGreaterThan(70);
      expect(most).toBeLessThan(90);
    });
  }
});

/** Log-probabilities after each token of a sequence: read in parts, then token by token. */
async function logProbabilities(
  config: ModelConfig,
  weights: Map<string, Tensor>,
  roundedBy?: readonly number[],
) {
  const options: DecoderOptions = defined({ threads: 1, roundedBy });
  const model = await createCachedDecoder(config, { tensors: weights }, options);
  const cache = createDecoderCache(model);
  const tokens = tokensOf(90, 3);
  cache.arrange([-1], [tokens.length]);
  const parts = [tokens.slice(0, 40), tokens.slice(40, 64), ...tokens.slice(64).map((token) => [token])];
  const found: number[] = [];
  let at = 0;
  for (const part of parts) {
    const past = { ...cache.view(0, 1), capacity: cache.capacity(), lengths: [at] };
    const { logits } = await model.run({ tokens: [part], past });
    const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0));
    found.push(...logits.map((logit) => logit - sum));
    at += part.length;
  }
  const bytes = cache.view(0, 1).keys.reduce((total, { byteLength }) => total + byteLength, 0);
  await model.close();
  return { found, bytes };
}

const alternating: Partial<ModelConfig> = {
  sliding_window: 9,
  layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
};

test.each<[string, Partial<ModelConfig>]>([
  ["llama", {}],
  ["qwen2, with large biases", { model_type: "qwen2" }],
  ["qwen3", { model_type: "qwen3", head_dim: 32 }],
  ["gemma2", { model_type: "gemma2", attn_logit_softcapping: 2, final_logit_softcapping: 3, ...alternating }],
  ["phi3", { model_type: "phi3", partial_rotary_factor: 0.5, head_dim: 32 }],
  ["smollm3", { model_type: "smollm3", no_rope_layers: [1, 0, 1] }],
])(
  "%s: with keys and values of 8 bits all is nearly as with whole ones, in a quarter of the memory",
  async (_, changed) => {
    const config = modelConfig({ ...shape, ...changed });
    const weights = randomModelWeights(config, 5);
    for (const [name, { data }] of weights) {
      if (name.endsWith("k_proj.bias")) data.set(noise(data.length, 1).map((value) => 10 * value));
    }
    const exact = await logProbabilities(config, weights);
    const near = await logProbabilities(config, weights, tokensOf(200, 1));
    expect(near.bytes / exact.bytes).toBeCloseTo(config.head_dim === 16 ? 0.5 : 0.25); // 256 positions of 128
    const gaps = near.found.map((value, at) => Math.abs(value - exact.found[at]!));
    const mean = gaps.reduce((total, gap) => total + gap, 0) / gaps.length;
    expect(mean).toBeGreaterThan(1e-5);
    expect(mean).toBeLessThan(0.05);
  },
);

test("attention to keys and values of 8 bits is attention to the numbers that they stand for", async () => {
  const [rows, heads, groups, size, capacity, past] = [2, 4, 2, 16, 64, 33];
  const runtime = (await runtimeFunctions())!;
  const sequence = (width: number, seed: number) => Float32Array.from(noise(rows * width, seed));
  const fresh = [sequence(heads * size, 1), sequence(groups * size, 2), sequence(groups * size, 3)];
  const codes = [4, 5].map((seed) =>
    Int8Array.from(noise(rows * groups * capacity * size, seed), (value) => Math.round(100 * value)),
  );
  const scales = [6, 7].map((seed) =>
    Float32Array.from(noise(groups * size, seed), (value) => 0.01 + 0.02 * Math.abs(value)),
  );
  /** What codes stand for, [rows, groups, capacity, size]. */
  const meaning = (of: Int8Array, by: Float32Array) =>
    Float32Array.from(
      of,
      (code, index) => code * by[(Math.floor(index / (capacity * size)) % groups) * size + (index % size)]!,
    );
  const attend = (
    remembered: readonly (Float32Array | Int8Array)[],
    given: readonly Float32Array[],
    isRounded: boolean,
  ) => {
    const graph = createGraph();
    const input = (name: string, width: number) => graph.input(name, "float32", [rows, 1, width]);
    const kept = (name: string) =>
      graph.input(name, isRounded ? "int8" : "float32", [rows, groups, capacity, size]);
    const scale = (name: string) => graph.input(name, "float32", [groups, size]);
    const queries = input("queries", heads * size);
    const freshInputs = [
      queries,
      input("freshKeys", groups * size),
      input("freshValues", groups * size),
    ] as const;
    const { attended, keys, values } = groupQueryAttention(
      freshInputs,
      defined({
        heads,
        groups,
        keys: kept("keys"),
        values: kept("values"),
        scale: 0.25,
        cap: null,
        lastPositions: graph.input("lastPositions", "int32", [rows]),
        total: graph.input("total", "int32", [1]),
        scales: isRounded ? ([scale("keyScales"), scale("valueScales")] as const) : undefined,
      }),
    );
    graph.output("attended", attended);
    graph.output("newKeys", keys);
    graph.output("newValues", values);
    const session = createBoundSession(runtime, modelBytes(graph), { threads: 1 });
    const bindings = session.bindings();
    const output = new Float32Array(rows * heads * size);
    const [keyData, valueData] = remembered.map((array) => array.slice());
    const cache = [rows, groups, capacity, size];
    bindings.bindInput("queries", { shape: [rows, 1, heads * size], data: given[0]! });
    bindings.bindInput("freshKeys", { shape: [rows, 1, groups * size], data: given[1]! });
    bindings.bindInput("freshValues", { shape: [rows, 1, groups * size], data: given[2]! });
    bindings.bindInput("lastPositions", { shape: [rows], data: new Int32Array(rows).fill(past) });
    bindings.bindInput("total", { shape: [1], data: Int32Array.of(past + 1) });
    if (isRounded) {
      bindings.bindInput("keyScales", { shape: [groups, size], data: scales[0]! });
      bindings.bindInput("valueScales", { shape: [groups, size], data: scales[1]! });
    }
    bindings.bindInput("keys", { shape: cache, data: keyData! });
    bindings.bindInput("values", { shape: cache, data: valueData! });
    bindings.bindOutput("newKeys", { shape: cache, data: keyData! });
    bindings.bindOutput("newValues", { shape: cache, data: valueData! });
    bindings.bindOutput("attended", { shape: [rows, 1, heads * size], data: output });
    bindings.run();
    session.close();
    return { output, keys: keyData!, values: valueData! };
  };
  const near = attend(codes, fresh, true);
  const nearest = (values: Float32Array, by: Float32Array) =>
    values.map((value, index) => rounded(value, by[index % by.length]!) * by[index % by.length]!);
  const exact = attend(
    codes.map((code, index) => meaning(code, scales[index]!)),
    [fresh[0]!, nearest(fresh[1]!, scales[0]!), nearest(fresh[2]!, scales[1]!)],
    false,
  );
  near.output.forEach((value, at) => {
    expect(value).toBeCloseTo(exact.output[at]!, 4);
  });
  [near.keys, near.values].forEach((kept, index) => {
    if (!(kept instanceof Int8Array)) throw new Error("not rounded");
    const expected = [exact.keys, exact.values][index]!;
    meaning(kept, scales[index]!).forEach((value, at) => {
      expect(value).toBeCloseTo(expected[at]!, 5);
    });
  });
});

test("heads that the operator doesn't have, and other devices, are refused", async () => {
  const config = modelConfig({ ...shape, head_dim: 8 });
  const opened = createCachedDecoder(
    config,
    { tensors: randomModelWeights(config, 1) },
    { threads: 1, roundedBy: [1] },
  );
  await expect(opened).rejects.toMatchObject({ code: "KEY_VALUES_NOT_ROUNDED" });
  await expect(opened).rejects.toThrow("heads of 8");
});
