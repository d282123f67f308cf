import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { CachedDecoder } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { createCudaDecoder } from "../../../../src/engine/models/decode/cuda/cuda-decoder.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createBatch } from "../../../../src/engine/sampling/batch.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { createPrefixStore } from "../../../../src/engine/sampling/prefix-store.ts";
import { createSequence, type Sample, type Sequence } from "../../../../src/engine/sampling/sequence.ts";
import { cardShape } from "../../../support/card-model.ts";
import { processorAsCard } from "../../../support/processor-as-card.ts";

const config = modelConfig({ ...cardShape, max_position_embeddings: 512 });
const tensors = randomModelWeights(config, 5);

/** Sequences that begin in threes, of prompts that begin alike, some beyond what rows have room for at first; each is continued to another length. */
const prompts = Array.from({ length: 11 }, (_, number) =>
  Array.from(
    { length: 20 + 23 * number },
    (_token, at) => (5 * at * at + 3 * at + (at < 150 ? 0 : number)) % config.vocab_size,
  ),
);

async function sampled(decoder: CachedDecoder): Promise<Sample[]> {
  const store = createPrefixStore();
  store.limit(2 ** 30);
  const batch = createBatch({ model: decoder, store, origin: "weights" });
  const samples: Promise<Sample>[] = [];
  const sequences = prompts.map((tokens, number): Sequence => {
    const sampling = { temperature: number % 3 === 0 ? 0 : 0.7, maxTokens: 5 + 4 * ((7 * number) % 11) };
    const key = { seed: 1, trajectory: `t${number}`, turn: 0 };
    const limits = {
      arrival: number,
      limit: sampling.maxTokens,
      stopTokens: new Set<number>(),
      decode: () => "",
    };
    let sequence: Sequence | undefined;
    samples.push(
      new Promise((finish, fail) => {
        sequence = createSequence({ tokens, version: 0, sampling, key }, limits, {
          settled: () => {},
          finish,
          fail,
        });
      }),
    );
    return sequence!;
  });
  const waiting = [...sequences];
  for (let step = 0; waiting.length > 0 || batch.size() > 0; step++) {
    if (step % 6 === 0) batch.join(waiting.splice(0, 3).filter((sequence) => sequence.begin()));
    await batch.step();
  }
  return Promise.all(samples);
}

/** What the processor's decoder gives each sampled token of the whole sequence read at once. */
async function scored(decoder: CachedDecoder, prompt: readonly number[], tokens: readonly number[]) {
  const cache = createDecoderCache(decoder);
  cache.arrange([-1], [prompt.length + tokens.length]);
  const view = () => ({ ...cache.view(0, 1), capacity: cache.capacity() });
  const logprobs: number[] = [];
  let next = [...prompt];
  let seen = 0;
  for (const token of tokens) {
    const given = await decoder.run({
      tokens: [next],
      past: { ...view(), lengths: [seen] },
      wanted: ["logits"],
    });
    const logits = given.logits.subarray(0, config.vocab_size);
    const most = Math.max(...logits);
    const total = logits.reduce((sum, value) => sum + Math.exp(value - most), 0);
    logprobs.push(logits[token]! - most - Math.log(total));
    seen += next.length;
    next = [token];
  }
  return logprobs;
}

test("sequences that come and go on a card are sampled as each would be alone, but for rounding", async () => {
  const card = await processorAsCard();
  const decoder = await createCudaDecoder(
    card.runtime,
    config,
    { tensors },
    { threads: 1, precision: "float16" },
    card.memory,
  );
  const samples = await sampled(decoder);
  await decoder.close();
  expect(card.held()).toBe(0);
  const exact = await createCachedDecoder(config, { tensors }, { threads: 1 });
  // Drawn by the same numbers, of which few fall where rounding decides.
  const alone = await sampled(exact);
  const same = samples.filter(({ tokens }, number) => tokens.join() === alone[number]!.tokens.join());
  expect(same.length).toBeGreaterThan(samples.length - 3);
  let largest = 0;
  for (const [number, { tokens, logprobs }] of samples.entries()) {
    expect(tokens).toHaveLength(5 + 4 * ((7 * number) % 11));
    const expected = await scored(exact, prompts[number]!, tokens);
    logprobs.forEach((logprob, at) => {
      largest = Math.max(largest, Math.abs(logprob - expected[at]!));
    });
  }
  await exact.close();
  expect(largest).toBeLessThan(0.02);
  expect(largest).toBeGreaterThan(0);
});
