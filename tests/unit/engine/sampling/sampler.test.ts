import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { readSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";
import { planMemory, versionBytes } from "../../../../src/engine/sampling/memory-check.ts";
import { createSampler, type Sampler, type SamplerOptions } from "../../../../src/engine/sampling/sampler.ts";
import { emptySample, type Sample, type SampleRequest } from "../../../../src/engine/sampling/sequence.ts";
import type { TokenConstraint } from "../../../../src/engine/sampling/token-constraint.ts";
import { clockAhead } from "../../../support/clock-ahead.ts";
import { modelFolder } from "./policy-folders.ts";

type GreedyCase = { prompt: number[]; tokens: number[]; logprobs: number[] };

const folder = join(import.meta.dirname, "fixtures");
const { cases }: { cases: GreedyCase[] } = JSON.parse(await readFile(join(folder, "greedy.json"), "utf8"));
const weights = await readSafetensors(join(folder, "policy/model.safetensors"));
const policy = join(folder, "policy");
const config = await readModelConfig(join(policy, "config.json"));

const asked = {
  keyValueBytes: 2 ** 30,
  weights: versionBytes(config, { fewBits: undefined, isWidened: false }),
};
const opened: Sampler[] = [];
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  for (const sampler of opened) await sampler.close();
});

async function open(
  slots: number,
  maxLength = 128,
  options: Partial<SamplerOptions> = {},
  path = policy,
): Promise<Sampler> {
  const sized = { ...config, max_position_embeddings: maxLength };
  const sampler = createSampler({
    config: sized,
    slots,
    stopTokens: [2],
    threads: 1,
    decode: (tokens) => tokens.map((token) => `<${token}>`).join(""),
    ...options,
  });
  opened.push(sampler);
  await sampler.load(0, path);
  return sampler;
}

function greedy(prompt: number[], trajectory = "t"): SampleRequest {
  const sampling = { temperature: 0, maxTokens: 24 };
  return { tokens: prompt, version: 0, sampling, key: { seed: 1, trajectory, turn: 0 } };
}

function sampled(index: number): SampleRequest {
  const { prompt } = cases[index % cases.length]!;
  const sampling = { temperature: 1, maxTokens: 40 };
  return { tokens: prompt, version: 0, sampling, key: { seed: 7, trajectory: `t${index}`, turn: 1 } };
}

test.each([1, 8, 32])("greedy decoding gives transformers' tokens with %i at a time", async (slots) => {
  const sampler = await open(slots);
  const samples = await Promise.all(cases.map(({ prompt }) => sampler.generate(greedy(prompt))));
  samples.forEach((sample, index) => {
    const { tokens, logprobs } = cases[index]!;
    expect(sample.tokens).toEqual(tokens);
    expect(sample.finishReason).toBe(tokens.at(-1) === 2 ? "stop" : "length");
    sample.logprobs.forEach((logprob, at) => {
      expect(logprob).toBeCloseTo(logprobs[at]!, 4);
    });
  });
});

/** The same requests one after the other, all at once, and at odd moments in another order. */
async function sampleThreeWays(): Promise<Sample[][]> {
  const indices = Array.from({ length: 48 }, (_, index) => index);
  const lonely = await open(1);
  const crowded = await open(48);
  const alone: Sample[] = [];
  for (const index of indices) alone.push(await lonely.generate(sampled(index)));
  const together = await Promise.all(indices.map((index) => crowded.generate(sampled(index))));
  const staggered = await Promise.all(
    indices.toReversed().map(async (index) => {
      await new Promise((resolve) => setTimeout(resolve, index % 7));
      return crowded.generate(sampled(index));
    }),
  );
  return [alone, together, staggered.toReversed()];
}

test("a sample doesn't depend on its neighbours", async () => {
  const [alone, together, staggered] = await sampleThreeWays();
  const tokensOf = (samples?: Sample[]) => samples?.map(({ tokens }) => tokens);
  expect(tokensOf(together)).toEqual(tokensOf(alone));
  expect(tokensOf(staggered)).toEqual(tokensOf(alone));
  if (process.arch !== "x64") return; // elsewhere the last bits of a log-probability were not looked at
  expect(together).toEqual(alone);
  expect(staggered).toEqual(alone);
});

test("requests keep to the version they name, old and new at the same time", async () => {
  const sampler = await open(4);
  const halved = new Map(
    [...weights].map(([name, { shape, data }]) => [name, { shape, data: data.map((x) => x / 2) }]),
  );
  const before = sampler.generate(greedy(cases[1]!.prompt));
  const other = await modelFolder(config, halved);
  await Promise.all([sampler.load(1, other), sampler.load(1, other)]);
  const after = await sampler.generate({ ...greedy(cases[1]!.prompt), version: 1 });
  expect((await before).tokens).toEqual(cases[1]!.tokens);
  expect(after.tokens).not.toEqual(cases[1]!.tokens);
});

test("versions long unused are let go", async () => {
  const sampler = await open(2);
  for (const version of [1, 2, 3]) await sampler.load(version, policy);
  await expect(sampler.generate(greedy([5]))).rejects.toThrow("Version 0 of the policy is not loaded");
  expect((await sampler.generate({ ...greedy([5]), version: 1 })).tokens.length).toBeGreaterThan(0);
});

/** Of a context that takes seconds to fill, on any machine. */
const longLength = 16_384;

test("a version that nobody has used for a while is let go before another is loaded, one in use is not", async () => {
  const sampler = await open(2, longLength, { stopTokens: [] });
  const abort = new AbortController();
  const sampling = { temperature: 1, maxTokens: longLength - 100 };
  const long = sampler.generate({ ...sampled(1), sampling, signal: abort.signal });
  const ended = expect(long).rejects.toThrow("enough");
  const other = async (version: number) => sampler.load(version, await modelFolder(config, weights));
  await other(1);
  clockAhead(11_000);
  await other(2);
  abort.abort(new Error("enough"));
  await ended;
  expect([0, 1, 2].map(sampler.isLoaded)).toEqual([true, false, true]);
  await other(3);
  expect([0, 2, 3].map(sampler.isLoaded), "soon after").toEqual([true, true, true]);
});

test("where memory is enough for two versions, two are kept, and one in use is not let go for another", async () => {
  const { weights: each, keyValues } = planMemory(
    { ...config, max_position_embeddings: longLength },
    2,
    asked,
  );
  let free = each + keyValues;
  const sampler = await open(2, longLength, { available: () => free, stopTokens: [] });
  free = each;
  await sampler.load(1, await modelFolder(config, weights));
  free = each - 1;
  const loadOther = async (version: number) => sampler.load(version, await modelFolder(config, weights));
  await loadOther(2);
  await expect(sampler.generate(greedy([5]))).rejects.toThrow("Version 0 of the policy is not loaded");
  const abort = new AbortController();
  const long = [1, 2].map((version) =>
    sampler.generate({
      ...sampled(1),
      version,
      signal: abort.signal,
      sampling: { temperature: 1, maxTokens: longLength - 100 },
    }),
  );
  const ended = Promise.allSettled(long);
  await expect(loadOther(3)).rejects.toMatchObject({ code: "SAMPLING_MEMORY_SHORT" });
  free = each;
  await loadOther(3);
  abort.abort(new Error("enough"));
  for (const outcome of await ended) expect(outcome).toMatchObject({ reason: { message: "enough" } });
  free = 0;
  await loadOther(4); // those let go were as large
  expect((await sampler.generate({ ...greedy([5]), version: 4 })).tokens.length).toBeGreaterThan(0);
});

test("where less memory is free than keys and values may take, sampling makes do with what there is", async () => {
  const sized = { ...config, max_position_embeddings: 2048 };
  const { weights: each, keyValues } = planMemory(sized, 8, asked);
  const half = await open(8, 2048, { available: () => each + keyValues / 2, keyValueBytes: keyValues });
  const samples = await Promise.all(cases.map(({ prompt }) => half.generate(greedy(prompt))));
  expect(samples.map(({ tokens }) => tokens)).toEqual(cases.map(({ tokens }) => tokens));
  const tenth = open(8, 2048, { available: () => each + keyValues / 10, keyValueBytes: keyValues });
  await expect(tenth).rejects.toMatchObject({ code: "SAMPLING_MEMORY_SHORT" });
});

test("a version that can't be read is no version, and may be tried again", async () => {
  const sampler = await open(1);
  await expect(sampler.load(1, join(folder, "nowhere"))).rejects.toThrow("neither model.safetensors nor");
  await sampler.load(1, policy);
  expect((await sampler.generate({ ...greedy([5]), version: 1 })).tokens.length).toBeGreaterThan(0);
});

test("an aborted request leaves, waiting or running, and the others go on", async () => {
  const sampler = await open(2, 4096, { stopTokens: [] });
  const abort = new AbortController();
  const long = { sampling: { temperature: 1, maxTokens: 4000 }, signal: abort.signal };
  const running = sampler.generate({ ...sampled(1), ...long });
  const waiting = [2, 3, 4].map((index) => sampler.generate({ ...sampled(index), ...long }));
  const other = sampler.generate({
    ...greedy(cases[0]!.prompt),
    sampling: { temperature: 0, maxTokens: 24, stopTokens: [2] },
  });
  const rejected = Promise.all(
    [running, ...waiting].map((sample) => expect(sample).rejects.toThrow("cancelled")),
  );
  setImmediate(() => setImmediate(() => abort.abort(new Error("cancelled"))));
  await rejected;
  expect((await other).tokens).toEqual(cases[0]!.tokens);
  await expect(sampler.generate({ ...sampled(1), signal: abort.signal })).rejects.toThrow("cancelled");
});

test("a context ends at the longest length", async () => {
  const { prompt, tokens } = cases[1]!;
  const sampler = await open(2, prompt.length + 3);
  const cut = await sampler.generate(greedy(prompt));
  expect(cut).toMatchObject({ tokens: tokens.slice(0, 3), finishReason: "length" });
  const full = await sampler.generate(greedy([...prompt, ...tokens]));
  expect(full).toEqual(emptySample());
});

class Broken extends Array<number> {
  override slice(): never {
    throw new Error("a mistake");
  }
}

test("a mistake in the sampler fails what it was generating, and nothing after", async () => {
  const sampler = await open(4);
  const { prompt, tokens } = cases[0]!;
  const both = await Promise.allSettled([
    sampler.generate(greedy(prompt, "innocent")),
    sampler.generate(greedy(Broken.from(cases[1]!.prompt), "guilty")),
  ]);
  for (const outcome of both) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "SAMPLER_FAILED" } });
  }
  expect((await sampler.generate(greedy(prompt))).tokens).toEqual(tokens);
});

test("refuses an empty context and ids outside the vocabulary", async () => {
  const sampler = await open(1);
  await expect(sampler.generate(greedy([]))).rejects.toThrow("is empty");
  await expect(sampler.generate(greedy([1, 340]))).rejects.toThrow("holds the id 340");
});

test("a policy whose numbers broke down fails its requests, and says so", async () => {
  const sampler = await open(2);
  const norm = "model.norm.weight";
  const broken = new Map(weights).set(norm, { shape: [32], data: new Float32Array(32).fill(Number.NaN) });
  await sampler.load(1, await modelFolder(config, broken));
  await expect(sampler.generate({ ...sampled(0), version: 1 })).rejects.toThrow("not finite");
  expect((await sampler.generate(greedy(cases[0]!.prompt))).tokens).toEqual(cases[0]!.tokens);
});

test.each([
  ["in place", 16],
  ["fed", 8],
])("closing fails what is under way and what comes later, wherever it is (%s)", async (_, size) => {
  const narrow = modelConfig({ ...config, num_attention_heads: 2, num_key_value_heads: 2, head_dim: size });
  const path = await modelFolder(narrow, randomModelWeights(narrow, 1));
  for (const turns of [0, 1, 2, 3, 5, 8]) {
    const sampler = await open(
      2,
      128,
      { config: { ...narrow, max_position_embeddings: 4096 }, stopTokens: [] },
      path,
    );
    const request = { ...sampled(1), sampling: { temperature: 0.7, maxTokens: 4000 } };
    const samples = [1, 2, 3].map(() =>
      expect(sampler.generate(request)).rejects.toMatchObject({ code: "POLICY_CLOSED" }),
    );
    const loading = sampler.load(1, path);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    await Promise.all([sampler.close(), sampler.close()]);
    await Promise.all([...samples, loading]);
    await expect(sampler.generate(request)).rejects.toMatchObject({ code: "POLICY_CLOSED" });
    await expect(sampler.load(1, path)).rejects.toMatchObject({ code: "POLICY_CLOSED" });
  }
});

test("a stop text ends an action, wherever its tokens lie", async () => {
  const { prompt, tokens } = cases[1]!;
  const sampler = await open(2);
  const request = greedy(prompt);
  const stop = [`${tokens[2]}><${tokens[3]}`];
  const sample = await sampler.generate({ ...request, sampling: { ...request.sampling, stop } });
  expect(sample).toMatchObject({ tokens: tokens.slice(0, 4), finishReason: "stop" });
});

test("a stop token of the request ends an action", async () => {
  const { prompt, tokens } = cases[1]!;
  const sampler = await open(2);
  const request = greedy(prompt);
  const sample = await sampler.generate({
    ...request,
    sampling: { ...request.sampling, stopTokens: [tokens[2]!] },
  });
  expect(sample).toMatchObject({ tokens: tokens.slice(0, 3), finishReason: "stop" });
});

test("the sampling's own log-probabilities stand beside the model's", async () => {
  const sampler = await open(2);
  const request = sampled(3);
  const plain = await sampler.generate(request);
  plain.logprobs.forEach((logprob, at) => {
    expect(plain.samplingLogprobs[at]).toBeCloseTo(logprob, 5);
  });
  const sampling = { temperature: 0.5, topK: 5, repetitionPenalty: 1.2, maxTokens: 10 };
  const shaped = await sampler.generate({ ...request, sampling });
  shaped.logprobs.forEach((logprob, at) => {
    expect(shaped.samplingLogprobs[at]).toBeGreaterThan(logprob);
  });
  expect(
    (await sampler.generate(greedy(request.tokens))).samplingLogprobs.every((logprob) => logprob === 0),
  ).toBe(true);
});

test("requests wait for memory, and one that can never have it is refused", async () => {
  const bytesPerToken = 2 * 4 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim;
  const sampler = await open(32, 128, { keyValueBytes: 200 * bytesPerToken });
  const samples = await Promise.all(cases.map(({ prompt }) => sampler.generate(greedy(prompt))));
  expect(samples.map(({ tokens }) => tokens)).toEqual(cases.map(({ tokens }) => tokens));
  const request = { ...greedy(Array.from({ length: 90 }, () => 5)) };
  const long = { ...request, sampling: { temperature: 0, maxTokens: 30 } };
  await expect(sampler.generate(long)).rejects.toThrow("for its keys and values");
});

test("short requests don't wait for the room that a long one would take for each of them", async () => {
  const shape = { ...config, num_attention_heads: 2, num_key_value_heads: 2, head_dim: 16 };
  const model = { ...modelConfig(shape), max_position_embeddings: 2048 };
  const path = await modelFolder(model, randomModelWeights(model, 1));
  const positions = 9000; // 2,496 for the long one, 192 for each short one
  const keyValueBytes = positions * 2 * 4 * model.num_hidden_layers * 2 * 16;
  const sampler = await open(32, 2048, { config: model, stopTokens: [], keyValueBytes }, path);
  let steps = 0;
  const free: TokenConstraint = {
    allowed: async () => new Int32Array(Math.ceil(model.vocab_size / 32)).fill(-1),
    accept: () => void steps++,
    dispose: () => {},
  };
  const request = (prompt: number, maxTokens: number, trajectory: string): SampleRequest => ({
    tokens: Array.from({ length: prompt }, (_, at) => (7 * at + 3) % 300),
    version: 0,
    sampling: { temperature: 1, maxTokens },
    key: { seed: 1, trajectory, turn: 0 },
  });
  const abort = new AbortController();
  const long = sampler.generate({ ...request(400, 1600, "long"), constraint: free, signal: abort.signal });
  while (steps === 0) await nextTurn();
  const before = steps;
  const names = Array.from({ length: 31 }, (_, index) => `short ${index}`);
  const together = await Promise.all(names.map((name) => sampler.generate(request(10, 64, name))));
  expect(steps - before).toBeLessThan(150);
  abort.abort(new Error("enough"));
  await expect(long).rejects.toThrow("enough");
  for (const [index, name] of [...names.entries()].slice(0, 4)) {
    expect(await sampler.generate(request(10, 64, name))).toEqual(together[index]);
  }
});

test("a constraint decides what may come, alone and beside free sequences, and is disposed of", async () => {
  const sampler = await open(4);
  const taken: number[] = [];
  let disposed = 0;
  const even: TokenConstraint = {
    allowed: async () => new Int32Array(Math.ceil(config.vocab_size / 32)).fill(0x55555555),
    accept: (token) => void taken.push(token),
    dispose: () => void disposed++,
  };
  const [bound, free] = await Promise.all([
    sampler.generate({ ...sampled(3), constraint: even }),
    sampler.generate(sampled(3)),
  ]);
  expect(bound.tokens.every((token) => token % 2 === 0)).toBe(true);
  expect(bound.tokens.slice(0, taken.length)).toEqual(taken);
  expect(free.tokens.some((token) => token % 2 === 1)).toBe(true);
  expect(disposed).toBe(1);
});

test("a request is told of its tokens as they are sampled, but for the last", async () => {
  const sampler = await open(2);
  const told: number[] = [];
  const onProgress = (count: number) => void told.push(count);
  const { tokens } = await sampler.generate({ ...greedy(cases[0]!.prompt, "told"), onProgress });
  expect(told).toEqual(tokens.slice(1).map((_, index) => index + 1));
  expect(told.length).toBeGreaterThan(0);
});

test("a request whose work is done when its turn comes takes no slot, and fails with what it was told", async () => {
  const sampler = await open(1);
  const begun: string[] = [];
  const request = (trajectory: string, onBegin: () => void) =>
    sampler.generate({ ...greedy(cases[0]!.prompt, trajectory), onBegin });
  const [first, needless, last] = await Promise.allSettled([
    request("first", () => void begun.push("first")),
    request("needless", () => {
      begun.push("needless");
      throw new Error("it was recorded meanwhile");
    }),
    request("last", () => void begun.push("last")),
  ]);
  expect(begun).toEqual(["first", "needless", "last"]);
  expect(first).toMatchObject({ status: "fulfilled", value: { tokens: cases[0]!.tokens } });
  expect(needless).toMatchObject({ status: "rejected", reason: { message: "it was recorded meanwhile" } });
  expect(last).toMatchObject({ status: "fulfilled", value: { tokens: cases[0]!.tokens } });
});
