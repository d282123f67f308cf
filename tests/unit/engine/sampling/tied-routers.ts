import { afterAll, expect } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { tiesOf } from "../../../../src/contracts/router-ties.ts";
import type { TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import {
  createTrainingEngine,
  type OpenTrainingEngine,
} from "../../../../src/engine/learning/training-engine.ts";
import { type ModelConfig, modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { bytesOfPosition } from "../../../../src/engine/models/decode/key-values.ts";
import { routedLayers } from "../../../../src/engine/models/graph/expert-choice.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createSampler, type Sampler } from "../../../../src/engine/sampling/sampler.ts";
import type { Sample, SampleRequest } from "../../../../src/engine/sampling/sequence.ts";
import { modelFolder } from "./policy-folders.ts";

export const experts = 8;
/** A small mixture of experts. */
export const mixture = (head_dim: number, num_hidden_layers = 4) =>
  modelConfig({
    model_type: "olmoe",
    vocab_size: 300,
    hidden_size: 64,
    num_hidden_layers,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    head_dim,
    intermediate_size: 32,
    max_position_embeddings: 1024,
    initializer_range: 0.2,
    experts: {
      num_experts: experts,
      num_experts_per_tok: 3,
      moe_intermediate_size: 32,
      norm_topk_prob: false,
      mlp_only_layers: [],
    },
  });

/** Of heads whose keys and values stay in place. */
export const config = mixture(16);

/** Routers whose experts come in pairs that are alike but for the last digits: of three chosen ones, one is half of a pair. */
export function pairedRouters(architecture: ModelConfig) {
  const weights = randomModelWeights(architecture, 5);
  for (const [name, { data }] of weights) {
    if (!name.endsWith(".mlp.gate.weight")) continue;
    const width = architecture.hidden_size;
    for (let expert = 0; expert < experts; expert += 2)
      for (let at = 0; at < width; at++)
        data[(expert + 1) * width + at] = data[expert * width + at]! * (1 + 1e-7 * ((7 * at) % 5));
  }
  return weights;
}

export const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
});

export async function open(
  architecture: ModelConfig,
  { positions = 10_000, device = "cpu" }: { positions?: number; device?: "cpu" | "webgpu" } = {},
): Promise<Sampler> {
  const keyValueBytes = positions * bytesOfPosition(architecture);
  const sampler = createSampler({
    config: architecture,
    slots: 16,
    stopTokens: [],
    threads: 2,
    decode: () => "",
    keyValueBytes,
    target: { device },
  });
  opened.push(sampler);
  await sampler.load(0, await modelFolder(architecture, pairedRouters(architecture)));
  return sampler;
}

export function train(architecture: ModelConfig): OpenTrainingEngine {
  const state = freshTrainerState({ config: architecture }, pairedRouters(architecture), 2);
  const engine = createTrainingEngine({
    config: architecture,
    state,
    threads: 2,
    gradientClip: 1,
    weightDecay: 0,
  });
  opened.push(engine);
  return engine;
}

function request(index: number): SampleRequest {
  return {
    tokens: Array.from(
      { length: 40 + 30 * (index % 3) },
      (_, at) => (7 * at * at + 13 * at + 29 * index) % 300,
    ),
    version: 0,
    sampling: { temperature: 1, maxTokens: 60 },
    key: { seed: 3, trajectory: `t${index}`, turn: 0 },
  };
}

export const requests = Array.from({ length: 8 }, (_, index) => request(index));

/** What the trainer says of samples less what the sampler said, at most, with ties or without. */
export async function gap(
  engine: OpenTrainingEngine,
  samples: readonly Sample[],
  isTold: boolean,
): Promise<number> {
  const sequences = samples.map(({ tokens, routerTies }, index) => {
    const prompt = requests[index]!.tokens;
    return defined<TokenSequence>({
      tokens: [...prompt, ...tokens],
      mask: [...prompt.map(() => 0), ...tokens.map(() => 1)],
      routerTies: isTold ? routerTies : undefined,
    });
  });
  const scores = await engine.score(sequences, "policy");
  const gaps = samples.flatMap(({ logprobs }, index) =>
    logprobs.map((logprob, at) => Math.abs(logprob - scores[index]!.logProbabilities[at]!)),
  );
  return Math.max(...gaps);
}

/** Expects a trainer that knows the ties of routers to choose the experts that a sampler on a device chose. */
export async function expectSameChoices(model: ModelConfig, device: "cpu" | "webgpu"): Promise<void> {
  const sampler = await open(model, { device });
  // A card that is none takes its time.
  const few = { sampling: { temperature: 1, maxTokens: 6 } };
  const asked = device === "cpu" ? requests : requests.slice(0, 1).map((one) => ({ ...one, ...few }));
  const engine = train(model);
  const samples = await Promise.all(asked.map((one) => sampler.generate(one)));
  expect(await gap(engine, samples, false), "what a last digit does").toBeGreaterThan(1e-4);
  expect(await gap(engine, samples, true)).toBeLessThan(1e-5);
  const layers = new Set(samples.flatMap(({ routerTies }) => tiesOf(routerTies).map(({ layer }) => layer)));
  expect([...layers].sort()).toEqual(routedLayers(model));
}
