import { expect, test } from "vitest";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createSampler, type Sampler, type SamplerOptions } from "../../../../src/engine/sampling/sampler.ts";
import type { Sample } from "../../../../src/engine/sampling/sequence.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { modelFolder } from "./policy-folders.ts";

const shape = {
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 48,
  max_position_embeddings: 512,
  initializer_range: 0.3,
};
const models: [string, ModelConfig][] = [
  ["grouped heads", modelConfig({ ...shape, num_key_value_heads: 2 })],
  ["a key-value head a head", modelConfig(shape)],
  [
    "a window",
    modelConfig({
      ...shape,
      model_type: "mistral",
      sliding_window: 20,
      layer_types: ["sliding_attention", "full_attention"],
    }),
  ],
  ["heads of 16", modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 16 })],
  [
    "a window over heads of 16",
    modelConfig({
      ...shape,
      model_type: "mistral",
      num_key_value_heads: 2,
      head_dim: 16,
      sliding_window: 20,
      layer_types: ["sliding_attention", "full_attention"],
    }),
  ],
  ["heads of 64", modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 64 })],
  ["heads of 128", modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 128 })],
  ["heads of 256", modelConfig({ ...shape, model_type: "gemma", num_key_value_heads: 2, head_dim: 256 })],
];
async function open(
  config: ModelConfig,
  folder: string,
  slots: number,
  options: Partial<SamplerOptions> = {},
): Promise<Sampler> {
  const sampler = createSampler({
    config,
    slots,
    ...options,
    stopTokens: [],
    threads: 2,
    decode: () => "",
  });
  await sampler.load(0, folder);
  return sampler;
}

/** Prompts of 1 to 300 tokens; groups of three have the same one. */
function promptOf(trajectory: number): number[] {
  const group = Math.floor(trajectory / 3);
  const length = [1, 63, 64, 65, 130, 300][group % 6]!;
  return Array.from({ length }, (_, at) => (7 * at * at + 13 * at + 29 * group) % 50);
}

/** So many turns; each goes on from the one before, with an observation between. */
async function trajectory(generate: Sampler["generate"], index: number, count: number): Promise<Sample[]> {
  const turns: Sample[] = [];
  let tokens = promptOf(index);
  for (let turn = 0; turn < count; turn++) {
    const sampling =
      index % 2 ? { temperature: 0.8, topP: 0.9, maxTokens: 6 + turn } : { temperature: 1, maxTokens: 20 };
    const key = { seed: 3, trajectory: `t${index}`, turn };
    const sample = await generate({ tokens, version: 0, sampling, key });
    turns.push(sample);
    tokens = [...tokens, ...sample.tokens, ...promptOf(index + turn).slice(0, 9)];
  }
  return turns;
}

async function staysSame(
  config: ModelConfig,
  folder: string,
  turns: number,
  options?: Partial<SamplerOptions>,
) {
  const crowded = await open(config, folder, 32, options);
  const indices = Array.from({ length: 18 }, (_, index) => index);
  const together = await Promise.all(
    indices.map(async (index) => {
      await new Promise((resolve) => setTimeout(resolve, (index * 5) % 11));
      return trajectory(crowded.generate, index, turns);
    }),
  );
  await crowded.close();
  // A sampler of its own for every turn remembers nothing.
  const afresh: Sampler["generate"] = async (request) => {
    const sampler = await open(config, folder, 1, options);
    const sample = await sampler.generate(request);
    await sampler.close();
    return sample;
  };
  for (const index of [0, 4, 8, 9, 13, 17]) {
    const alone = await trajectory(afresh, index, turns);
    expect(alone.map(({ tokens }) => tokens)).toEqual(together[index]!.map(({ tokens }) => tokens));
    if (process.arch === "x64") expect(alone).toEqual(together[index]);
  }
}

test.each(models)("%s: turns are the same alone, crowded, and after a crash", async (name, config) => {
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  await staysSame(config, folder, name === "grouped heads" ? 5 : 2);
});

test.each([
  ["int8", "float32"],
  ["int8", "int8"],
  ["int4", "int8"],
] as const)("so they are with a base in %s and activations in %s", async (quantization, activations) => {
  const config = modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 16, intermediate_size: 96 });
  await staysSame(config, await quantizedFolder(config, quantization), 2, { activations });
});

/** A model whose matrices are wide enough to be widened for whole blocks of prompts; queries' and keys' are not all. */
const wide = modelConfig({
  ...shape,
  hidden_size: 256,
  num_hidden_layers: 3,
  num_key_value_heads: 2,
  head_dim: 64,
  intermediate_size: 512,
  initializer_range: 0.1,
});

test.each([
  ["float32", {}],
  ["int8", { roundedBy: Array.from({ length: 200 }, (_, at) => (11 * at * at + 5 * at) % 50) }],
] as const)(
  "so they are where whole blocks of prompts are read by widened matrices, keys and values in %s",
  async (_, options) => {
    await staysSame(wide, await quantizedFolder(wide, "int8"), 4, options);
  },
);

const roundedBy = Array.from({ length: 200 }, (_, at) => (11 * at * at + 5 * at) % 50);

test.each(models.filter(([name]) => ["a window over heads of 16", "heads of 128"].includes(name)))(
  "%s: so they are with keys and values of 8 bits",
  async (_, config) => {
    const folder = await modelFolder(config, randomModelWeights(config, 3));
    await staysSame(config, folder, 2, { roundedBy });
  },
);

test("with keys and values of 8 bits, a sequence fits where a part of it did", async () => {
  const config = modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 64 });
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  const [prompt, maxTokens] = [promptOf(15), 100];
  const keyValueBytes = 320 * 2 * 2 * 2 * 64 * 4; // of 320 positions, unrounded
  const whole = await open(config, folder, 1, { keyValueBytes });
  const rounded = await open(config, folder, 1, { keyValueBytes, roundedBy });
  const key = { seed: 1, trajectory: "t", turn: 0 };
  const request = { tokens: prompt, version: 0, sampling: { temperature: 1, maxTokens }, key };
  await expect(whole.generate(request)).rejects.toMatchObject({ code: "KEY_VALUE_MEMORY_TOO_SMALL" });
  expect((await rounded.generate(request)).tokens).toHaveLength(maxTokens);
});

test("a prompt that ends one token after what is kept is the same read at once and from what was kept", async () => {
  const wide = { ...shape, hidden_size: 128, num_attention_heads: 4, num_key_value_heads: 2 };
  const config = modelConfig({ ...wide, head_dim: 32, intermediate_size: 352 });
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  for (const length of [17, 49, 65, 129]) {
    for (let seed = 0; seed < 4; seed++) {
      const sampler = await open(config, folder, 1);
      const tokens = Array.from({ length }, (_, at) => (7 * at * at + 13 * at + 29 * seed) % 50);
      const sampling = { temperature: 1, maxTokens: 3 };
      const sample = () =>
        sampler.generate({ tokens, version: 0, sampling, key: { seed, trajectory: "t", turn: 0 } });
      const first = await sample();
      if (process.arch === "x64") expect(await sample()).toEqual(first);
    }
  }
});
