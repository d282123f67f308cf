import { afterAll, expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { CachedDecoder, DecoderPass } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { bytesOfPosition } from "../../../../src/engine/models/decode/key-values.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createBatch } from "../../../../src/engine/sampling/batch.ts";
import { createPrefixStore } from "../../../../src/engine/sampling/prefix-store.ts";
import { createSampler, type Sampler } from "../../../../src/engine/sampling/sampler.ts";
import { createSequence, type Sample, type SampleRequest } from "../../../../src/engine/sampling/sequence.ts";
import type { TokenConstraint } from "../../../../src/engine/sampling/token-constraint.ts";
import { modelFolder } from "./policy-folders.ts";
import { config } from "./small-config.ts";

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const each of opened) await each.close();
});

async function open(model: ModelConfig, folder: string, positions: number): Promise<Sampler> {
  const keyValueBytes = positions * bytesOfPosition(model);
  const sampler = createSampler({
    config: model,
    slots: 32,
    stopTokens: [],
    threads: 2,
    decode: () => "",
    keyValueBytes,
  });
  opened.push(sampler);
  await sampler.load(0, folder);
  return sampler;
}

/** Never the token before: what it allows depends on all that it has accepted, and so on being asked once a token. */
function noRepeats(): TokenConstraint {
  const allowed = new Int32Array(2).fill(-1);
  return {
    allowed: async () => allowed.slice(),
    accept(token) {
      allowed.fill(-1);
      allowed[token >>> 5]! &= ~(1 << (token & 31));
    },
    dispose: () => {},
  };
}

function request(index: number): SampleRequest {
  const length = [10, 70, 130][index % 3]!;
  return defined({
    tokens: Array.from({ length }, (_, at) => (7 * at * at + 13 * at + 29 * index) % 50),
    version: 0,
    sampling: { temperature: index % 2 ? 0.8 : 1, maxTokens: 200 + 20 * (index % 4) },
    key: { seed: 3, trajectory: `t${index}`, turn: 0 },
    constraint: index % 3 === 0 ? noRepeats() : undefined,
  });
}

test.each([
  ["in place", 16],
  ["fed", 8],
])("what gives way for lack of memory is sampled on, the same to the last bit (%s)", async (_, size) => {
  const model = { ...config, head_dim: size };
  const folder = await modelFolder(model, randomModelWeights(model, 3));
  // With room for 800 positions, three of them give way.
  const [ample, scarce] = [await open(model, folder, 2 ** 20), await open(model, folder, 800)];
  const all = Array.from({ length: 8 }, (_sample, index) => index);
  const begun: number[] = [];
  const sampleAll = (sampler: Sampler) =>
    Promise.all(
      all.map((index) => sampler.generate({ ...request(index), onBegin: () => void begun.push(index) })),
    );
  const expected = await sampleAll(ample);
  expect(expected.map(({ tokens }) => tokens.length)).toEqual(all.map((index) => 200 + 20 * (index % 4)));
  const actual = await sampleAll(scarce);
  expect(begun).toEqual([...all, ...all]); // in their order, each once
  expect(actual.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens));
  if (process.arch === "x64") expect(actual).toEqual(expected);
});

/** A decoder that keeps what it was asked for. */
async function watched(): Promise<{ model: CachedDecoder; passes: DecoderPass[] }> {
  const decoder = await createCachedDecoder(
    config,
    { tensors: randomModelWeights(config, 3) },
    { threads: 2 },
  );
  opened.push(decoder);
  const passes: DecoderPass[] = [];
  const run = (asked: DecoderPass) => {
    passes.push(structuredClone({ ...asked, past: { ...asked.past, keys: [], values: [] } }));
    return decoder.run(asked);
  };
  return { model: { ...decoder, run }, passes };
}

test("a group reads its prompt once, whose keys and values its members go on from", async () => {
  const { model, passes } = await watched();
  const batch = createBatch({ model, store: createPrefixStore(), origin: "test" });
  const samples: Sample[] = [];
  const group = Array.from({ length: 8 }, (_, sample) => {
    const tokens = request(2).tokens;
    const asked = { ...request(2), tokens, key: { seed: sample, trajectory: "t", turn: 0 } };
    const limits = { arrival: sample, limit: 20, stopTokens: new Set<number>(), decode: () => "" };
    return createSequence(asked, limits, {
      settled: () => {},
      finish: (done) => void samples.push(done),
      fail: (error) => {
        throw error;
      },
    });
  });
  const alone = batch.needs(0, group.slice(0, 1));
  expect(batch.needs(0, group)).toBe(8 * alone - 7 * (alone / 2)); // the prompt, as it is read, is there once
  batch.join(group);
  while (batch.size() > 0) await batch.step();
  expect(samples).toHaveLength(8);
  const read = passes.filter(({ length = 0 }) => length > 1).flatMap(({ tokens }) => tokens);
  expect(read.flat()).toEqual(request(2).tokens);
  expect(new Set(samples.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1);
});

test("who gives way is decoded again, without drawing, and goes on", async () => {
  const { model, passes } = await watched();
  const batch = createBatch({ model, store: createPrefixStore(), origin: "test" });
  const samples: Sample[] = [];
  const start = (arrival: number) =>
    createSequence(
      { ...request(1), key: { seed: arrival, trajectory: "t", turn: 0 } },
      { arrival, limit: 30, stopTokens: new Set(), decode: () => "" },
      { settled: () => {}, finish: (done) => void samples.push(done), fail: () => {} },
    );
  const [older, younger] = [start(0), start(1)];
  batch.join([older, younger]);
  for (let step = 0; step < 10; step++) await batch.step();
  expect(batch.youngest()).toEqual([younger]);
  const before = [...younger.tokens];
  batch.leave(younger);
  expect(batch.youngest()).toEqual([older]);
  batch.trim();
  for (let step = 0; step < 3; step++) await batch.step();
  passes.length = 0;
  batch.join([younger]);
  while (batch.size() > 0) await batch.step();
  expect(younger.tokens.slice(0, before.length)).toEqual(before);
  expect(samples.map(({ tokens }) => tokens.length)).toEqual([30, 30]);
  const fed = passes.filter(({ length }) => length === 1).flatMap(({ tokens }) => tokens.at(-1)!);
  expect(fed).toEqual(younger.tokens.slice(0, -1));
});

test.runIf(process.platform === "linux")(
  "prompts that gave way to what was under way are kept again as it ends, for the next turn",
  async () => {
    const { model, passes } = await watched();
    const store = createPrefixStore(); // may keep nothing while the first turn is under way
    const batch = createBatch({ model, store, origin: "test" });
    const turn = async (tokens: readonly number[], number: number) => {
      const samples: Sample[] = [];
      batch.join(
        [0, 1].map((arrival) =>
          createSequence(
            {
              ...request(2),
              tokens: [arrival, ...tokens],
              key: { seed: 1, trajectory: `t${arrival}`, turn: number },
            },
            { arrival, limit: 5, stopTokens: new Set(), decode: () => "" },
            { settled: () => {}, finish: (done) => void samples.push(done), fail: () => {} },
          ),
        ),
      );
      passes.length = 0;
      while (batch.size() > 0) await batch.step();
      const read = passes.filter(({ length = 0 }) => length > 1).flatMap((one) => one.tokens);
      return { samples, read: read.flat().length };
    };
    const [first, more] = [request(2).tokens, request(5).tokens.slice(0, 50)];
    const before = await turn(first, 0);
    expect(before.read).toBe(2 * 131);
    store.limit(2 ** 30); // as the sampler says before each step: nothing is under way
    const kept = await turn([...first, ...more], 1);
    expect(kept.read).toBe(2 * (181 - 128));
    store.limit(0);
    const again = await turn([...first, ...more], 1);
    expect(again.read).toBe(2 * 181);
    expect(kept.samples).toEqual(again.samples);
  },
);
