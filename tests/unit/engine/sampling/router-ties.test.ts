import { afterAll, expect, test } from "vitest";
import { tiesBetween, tiesOf } from "../../../../src/contracts/router-ties.ts";
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
import { createSequence, type Sample, type SampleRequest } from "../../../../src/engine/sampling/sequence.ts";
import { keepSwiftShader } from "../../../support/kept-swiftshader.ts";
import { modelFolder } from "./policy-folders.ts";

keepSwiftShader();

const experts = 8;
const mixture = (head_dim: number, num_hidden_layers = 4) =>
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
const config = mixture(16);

/** Routers whose experts come in pairs that are alike but for the last digits: of three chosen ones, one is half of a pair. */
function pairedRouters(config: ModelConfig) {
  const weights = randomModelWeights(config, 5);
  for (const [name, { data }] of weights) {
    if (!name.endsWith(".mlp.gate.weight")) continue;
    const width = config.hidden_size;
    for (let expert = 0; expert < experts; expert += 2)
      for (let at = 0; at < width; at++)
        data[(expert + 1) * width + at] = data[expert * width + at]! * (1 + 1e-7 * ((7 * at) % 5));
  }
  return weights;
}

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
});

async function open(
  config: ModelConfig,
  { positions = 10_000, device = "cpu" }: { positions?: number; device?: "cpu" | "webgpu" } = {},
): Promise<Sampler> {
  const keyValueBytes = positions * bytesOfPosition(config);
  const sampler = createSampler({
    config,
    slots: 16,
    stopTokens: [],
    threads: 2,
    decode: () => "",
    keyValueBytes,
    target: { device },
  });
  opened.push(sampler);
  await sampler.load(0, await modelFolder(config, pairedRouters(config)));
  return sampler;
}

function train(config: ModelConfig): OpenTrainingEngine {
  const state = freshTrainerState({ config }, pairedRouters(config), 2);
  const engine = createTrainingEngine({ config, state, threads: 2, gradientClip: 1, weightDecay: 0 });
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

const requests = Array.from({ length: 8 }, (_, index) => request(index));

/** What the trainer says of samples less what the sampler said, at most, with ties or without. */
async function gap(engine: OpenTrainingEngine, samples: readonly Sample[], isTold: boolean): Promise<number> {
  const sequences = samples.map(({ tokens, routerTies }, index) => {
    const prompt = requests[index]!.tokens;
    return {
      tokens: [...prompt, ...tokens],
      mask: [...prompt.map(() => 0), ...tokens.map(() => 1)],
      ...(isTold && { routerTies }),
    };
  });
  const scores = await engine.score(sequences, "policy");
  const gaps = samples.flatMap(({ logprobs }, index) =>
    logprobs.map((logprob, at) => Math.abs(logprob - scores[index]!.logProbabilities[at]!)),
  );
  return Math.max(...gaps);
}

test.each([
  ["in place", config, "cpu"],
  ["in plain operators", mixture(8), "cpu"],
  ["on WebGPU", mixture(16, 2), "webgpu"],
] as const)(
  "a trainer that is told the ties of routers chooses as the sampler chose, %s",
  async (_, model, device) => {
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
  },
);

test("ties are told of what was kept of a prompt as well, and once each where a sequence gave way", async () => {
  const sampler = await open(config);
  const [first] = requests;
  const sample = await sampler.generate(first!);
  const turn = { ...first!, tokens: [...first!.tokens, ...sample.tokens, 5, 6, 7] };
  const again = await sampler.generate(turn);
  // The last token that was sampled had not been read.
  const end = first!.tokens.length + sample.tokens.length - 1;
  const last = first!.tokens.length - 1; // whose last layer nobody asks for now
  expect(tiesBetween(again.routerTies, 0, last)).toEqual(tiesBetween(sample.routerTies, 0, last));
  expect(tiesBetween(again.routerTies, 0, end).length).toBeGreaterThan(0);
  expect(tiesOf(again.routerTies).some(({ position }) => position > end)).toBe(true);

  const short = await open(config, { positions: 400 });
  const samples = await Promise.all(requests.map((one) => short.generate(one)));
  expect(await gap(train(config), samples, true)).toBeLessThan(1e-5);
  for (const { routerTies } of samples) {
    const places = tiesOf(routerTies).map(({ position, layer }) => `${position} ${layer}`);
    expect(new Set(places).size).toBe(places.length);
  }
});

test("a model without experts, or whose experts are all chosen, has no ties", async () => {
  const whole = { ...config, experts: { ...config.experts!, num_experts_per_tok: experts } };
  const sampler = createSampler({ config: whole, slots: 2, stopTokens: [], threads: 2, decode: () => "" });
  opened.push(sampler);
  await sampler.load(0, await modelFolder(whole, pairedRouters(config)));
  expect((await sampler.generate(requests[0]!)).routerTies).toEqual([]);
});

test("ties of no token, layer or expert are refused", async () => {
  const [prompt, action] = [
    [5, 6, 7, 8],
    [9, 10],
  ];
  const sequence = { tokens: [...prompt, ...action], mask: [0, 0, 0, 0, 1, 1] };
  const engine = train(config);
  const of = (routerTies: number[]) => engine.score([{ ...sequence, routerTies }], "policy");
  await expect(of([9, 0, 0])).rejects.toThrow("[9, 0, 0]");
  await expect(of([1, 4, 0])).rejects.toThrow("[1, 4, 0]");
  await expect(of([1, 0, 16])).rejects.toThrow("[1, 0, 16]");
  await expect(of([1, 0])).rejects.toThrow("router ties");
});

test("the ties of a long context are as many as there are", async () => {
  const { promise, resolve, reject } = Promise.withResolvers<Sample>();
  const limits = { arrival: 0, limit: 1, stopTokens: new Set<number>(), decode: () => "" };
  const asked = { ...requests[0]!, sampling: { temperature: 0, maxTokens: 1 } };
  const sequence = createSequence(asked, limits, { settled() {}, finish: resolve, fail: reject });
  sequence.length = asked.tokens.length;
  sequence.addTies(
    Array.from({ length: 600_000 }, (_, at) => Math.floor(at / 3)),
    200_000,
  );
  const none = () => new Float32Array();
  sequence.advance({ choice: () => ({ token: 5, probability: 1 }), weights: none, logits: none });
  expect((await promise).routerTies).toHaveLength(600_000);
});
