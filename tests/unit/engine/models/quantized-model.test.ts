import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { freshAdapter } from "../../../../src/engine/learning/lora.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import type { TrainedModel } from "../../../../src/engine/learning/training-graphs.ts";
import { families, isFamily } from "../../../../src/engine/models/config/families.ts";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { readWeights, writeWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { storedQuantization } from "../../../../src/engine/models/weights/stored-quantization.ts";
import { readFrozenWeights, weightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { noise } from "../onnx/finite-differences.ts";

const tiedConfig = modelConfig({
  vocab_size: 70,
  hidden_size: 64,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  // 80 columns are no whole blocks: that matrix stays as it is
  intermediate_size: 80,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
  initializer_range: 0.2,
});
const lora = { rank: 4, alpha: 8, targets: ["q_proj", "down_proj", "up_proj"] };
const sequences = [30, 9, 21].map((length, row) => ({
  tokens: Array.from({ length }, (_, at) => (at * 13 + row * 29 + 7 * at * at) % 70),
  mask: Array.from({ length }, (_, at) => (at === 0 ? 0 : 1)),
}));
/** An adapter that changes something. */
function adapterOf(config: ModelConfig) {
  const fresh = [...freshAdapter(config, lora, 1)];
  return new Map(
    fresh.map(([name, { shape, data }], at): [string, Tensor] => [
      name,
      { shape, data: noise(data.length, at).map((value) => value / 10) },
    ]),
  );
}

type Frozen = Awaited<ReturnType<typeof readFrozenWeights>>;

async function openEngine(config: ModelConfig, { weights, base }: Frozen) {
  const model: TrainedModel = defined({ config, lora, base });
  const state = { ...freshTrainerState(model, weights, 1), adapter: adapterOf(config) };
  return createTrainingEngine({ ...model, state, gradientClip: 1, weightDecay: 0, threads: 1 });
}

/** Supervised updates on all but each sequence's first token. */
function requestOf(batch: readonly { tokens: number[]; mask: number[] }[]) {
  const count = batch.reduce((total, { tokens }) => total + tokens.length - 1, 0);
  const samples = batch.map((sequence) => ({
    sequences: [sequence],
    columns: { weights: new Float32Array(sequence.tokens.length - 1).fill(1 / count) },
  }));
  return { objective: supervisedObjective, samples, scalars: {}, learningRate: 0.01 };
}

test.each(["int8", "int4"] as const)(
  "%s: what is trained is what is sampled from, and what the file says",
  async (kind) => {
    const folder = await quantizedFolder(tiedConfig, kind);
    expect(storedQuantization(folder)).toBe(kind);
    const frozen = await readFrozenWeights(folder);
    expect(frozen.base?.frozen.get("model.layers.0.mlp.up_proj.weight")).toMatchObject({
      bits: kind === "int8" ? 8 : 4,
    });
    expect(frozen.base?.frozen.get("model.embed_tokens.weight")).toMatchObject({ bits: 8 });
    expect([...frozen.weights.keys()].filter((name) => name.endsWith("_proj.weight"))).toEqual(
      [0, 1, 2].map((layer) => `model.layers.${layer}.mlp.down_proj.weight`),
    );
    const engine = await openEngine(tiedConfig, frozen);
    const widened = await openEngine(tiedConfig, { weights: await readWeights(folder) });
    const scores = await engine.score(sequences, "policy");
    const expected = await widened.score(sequences, "policy");
    scores.forEach(({ logProbabilities }, row) => {
      expect(largestGap(logProbabilities, expected[row]!.logProbabilities)).toBeLessThan(1e-5);
    });
    const reference = await engine.score(sequences, "reference");
    expect(largestGap(reference[0]!.logProbabilities, scores[0]!.logProbabilities)).toBeGreaterThan(1e-3);

    const sampled = await sampledLogProbabilities(tiedConfig, folder);
    sampled.forEach((logProbabilities, row) => {
      expect(largestGap(logProbabilities, scores[row]!.logProbabilities)).toBeLessThan(1e-4);
    });

    const request = requestOf(sequences);
    const losses = [];
    for (let update = 0; update < 3; update++) {
      const { loss, gradientNorm } = await engine.update(request);
      const whole = await widened.update(request);
      expect(loss).toBeCloseTo(whole.loss, 4);
      expect(gradientNorm / whole.gradientNorm).toBeCloseTo(1, 4);
      losses.push(loss);
    }
    expect(losses[2]).toBeLessThan(losses[0]!);
    await engine.close();
    await widened.close();
  },
);

test.each([
  ["BF16", "llama", true],
  ["F16", "llama", false],
  ["BF16", "phi3", true],
] as const)(
  "%s: a base of %s that stays as it is trains as its float32, to the last bit",
  async (dtype, model_type, isTied) => {
    // The head's rows come in parts.
    const large = { ...tiedConfig, model_type, vocab_size: 9000, tie_word_embeddings: isTied };
    const folder = await mkdtemp(join(tmpdir(), "everturn-half-"));
    await writeWeights(folder, randomModelWeights(large, 1), { dtype, shardBytes: 300_000 });
    expect(await readFrozenWeights(folder)).not.toHaveProperty("base"); // so small a one is widened
    const frozen = await readFrozenWeights(folder, 0);
    expect([...frozen.weights.keys()].every((name) => name.includes("norm"))).toBe(true);
    const engine = await openEngine(large, frozen);
    const widened = await openEngine(large, { weights: await readWeights(folder) });
    const scored = (one: typeof engine) => one.score(sequences, "policy");
    expect(await scored(engine)).toEqual(await scored(widened));
    for (let update = 0; update < 2; update++) {
      const { logProbabilities, ...rest } = await engine.update(requestOf(sequences));
      const { logProbabilities: expected, ...others } = await widened.update(requestOf(sequences));
      expect(rest).toEqual(others);
      expect(logProbabilities).toEqual(expected);
    }
    expect(engine.state.adapter).toEqual(widened.state.adapter);
    await engine.close();
    await widened.close();
  },
);

/** A model of few bits in files scores, samples and trains as one of its numbers does. */
async function computesAsItsNumbers(config: ModelConfig, folder: string, frozen: Frozen): Promise<void> {
  const engine = await openEngine(config, frozen);
  const whole = await openEngine(config, { weights: await readWeights(folder) });
  const [scores, expected] = [
    await engine.score(sequences, "policy"),
    await whole.score(sequences, "policy"),
  ];
  const sampled = await sampledLogProbabilities(config, folder);
  scores.forEach(({ logProbabilities }, row) => {
    expect(largestGap(logProbabilities, expected[row]!.logProbabilities)).toBeLessThan(1e-5);
    expect(largestGap(logProbabilities, sampled[row]!)).toBeLessThan(1e-4);
  });
  const [update, other] = [
    await engine.update(requestOf(sequences)),
    await whole.update(requestOf(sequences)),
  ];
  expect(update.gradientNorm / other.gradientNorm).toBeCloseTo(1, 4);
  await engine.close();
  await whole.close();
}

const dense = Object.keys(families)
  .filter(isFamily)
  .filter((name) => !families[name].experts);

test.each(dense)("%s of few bits computes as its numbers do", async (model_type) => {
  const family = modelConfig({
    vocab_size: 70,
    hidden_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    intermediate_size: 96,
    max_position_embeddings: 128,
    tie_word_embeddings: true,
    initializer_range: 0.2,
    model_type,
  });
  const folder = await quantizedFolder(family, "int8");
  const frozen = await readFrozenWeights(folder);
  expect([...frozen.weights.keys()].filter((name) => name.endsWith("_proj.weight"))).toEqual([]);
  await computesAsItsNumbers(family, folder, frozen);
});

test("experts of few bits compute as their numbers do, also without a token", async () => {
  const experts = { num_experts: 6, num_experts_per_tok: 2, moe_intermediate_size: 32, norm_topk_prob: true };
  const mixture = modelConfig({
    ...tiedConfig,
    model_type: "qwen3_moe",
    num_hidden_layers: 1,
    layer_types: ["full_attention"],
    experts: { ...experts, mlp_only_layers: [] },
  });
  const folder = await quantizedFolder(mixture, "int8");
  const frozen = await readFrozenWeights(folder);
  expect(frozen.base?.frozen.has("model.layers.0.mlp.experts.3.up_proj.weight")).toBe(true);
  await computesAsItsNumbers(mixture, folder, frozen);
});

test("a sequence that is attended to in tiles trains over few bits as over their numbers", async () => {
  const long = {
    ...tiedConfig,
    num_hidden_layers: 1,
    layer_types: tiedConfig.layer_types.slice(0, 1),
    max_position_embeddings: 2048,
  };
  const folder = await quantizedFolder(long, "int4");
  const engine = await openEngine(long, await readFrozenWeights(folder));
  const whole = await openEngine(long, { weights: await readWeights(folder) });
  const tokens = Array.from({ length: 1100 }, (_, at) => (at * 13 + 7 * at * at) % 70);
  const request = requestOf([{ tokens, mask: tokens.map((_, at) => (at === 0 ? 0 : 1)) }]);
  const [update, other] = [await engine.update(request), await whole.update(request)];
  expect(largestGap(update.logProbabilities, other.logProbabilities)).toBeLessThan(1e-5);
  expect(update.gradientNorm / other.gradientNorm).toBeCloseTo(1, 4);
  await engine.close();
  await whole.close();
});

/** Of each sequence's tokens but the first, as the decoder gives them, all sequences together. */
async function sampledLogProbabilities(config: ModelConfig, folder: string): Promise<Float32Array[]> {
  const adapter = adapterOf(config);
  const shapes = new Map([...adapter].map(([name, { shape }]) => [name, shape]));
  const options = { threads: 1, adapter: { scale: lora.alpha / lora.rank, shapes } };
  const model = await createCachedDecoder(config, await weightSources(folder), options);
  const cache = createDecoderCache(model);
  const found = sequences.map(({ tokens }) => new Float32Array(tokens.length - 1));
  cache.arrange([0, 1, 2], [64, 64, 64]);
  for (let at = 0; at < 29; at++) {
    const tokens = sequences.map((sequence) => [sequence.tokens[at] ?? 0]);
    const past = { ...cache.view(0, 3), capacity: cache.capacity(), lengths: [at, at, at] };
    const { logits } = await model.run({ tokens, past, adapter });
    found.forEach((logProbabilities, row) => {
      if (at >= logProbabilities.length) return;
      const own = logits.subarray(row * 70, (row + 1) * 70);
      const sum = own.reduce((total, logit) => total + Math.exp(logit), 0);
      logProbabilities[at] = own[sequences[row]!.tokens[at + 1]!]! - Math.log(sum);
    });
  }
  await model.close();
  return found;
}

function largestGap(a: Float32Array, b: Float32Array): number {
  expect(a).toHaveLength(b.length);
  return a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);
}
