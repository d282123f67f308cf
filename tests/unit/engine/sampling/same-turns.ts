import { expect } from "vitest";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { createSampler, type Sampler, type SamplerOptions } from "../../../../src/engine/sampling/sampler.ts";
import type { Sample } from "../../../../src/engine/sampling/sequence.ts";

export const shape = {
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 48,
  max_position_embeddings: 512,
  initializer_range: 0.3,
};
/** Models whose attention is computed in different ways, by name. */
export const models: [name: string, config: ModelConfig][] = [
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

/** Opens a sampler with the weights of a folder. */
export async function open(
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
export function promptOf(index: number): number[] {
  const group = Math.floor(index / 3);
  const length = [1, 63, 64, 65, 130, 300][group % 6]!;
  return Array.from({ length }, (_, at) => (7 * at * at + 13 * at + 29 * group) % 50);
}

/** Samples `count` turns; each continues the one before, with an observation between. */
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

/** Expects turns to be the same when sampled alone, among others, and by a new sampler for each turn. */
export async function staysSame(
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

/** Tokens by which keys and values of 8 bits are scaled. */
export const roundedBy = Array.from({ length: 200 }, (_, at) => (11 * at * at + 5 * at) % 50);
