import { expect, test } from "vitest";
import type { CachedDecoder } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { bytesOfPosition } from "../../../../src/engine/models/decode/key-values.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { weightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { createPrefixStore } from "../../../../src/engine/sampling/prefix-store.ts";
import { createPromptReader } from "../../../../src/engine/sampling/prompt-reader.ts";
import { createSequence, type Sample } from "../../../../src/engine/sampling/sequence.ts";
import { modelFolder } from "./policy-folders.ts";
import { config } from "./small-config.ts";

async function opened(): Promise<CachedDecoder> {
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  return createCachedDecoder(config, await weightSources(folder), { threads: 1 });
}

/** Prompts that are the same up to `common` tokens. */
const prompts = (common: number, count: number, length: number) =>
  new Map(
    Array.from({ length: count }, (_, number) => [
      number,
      Array.from({ length }, (_token, at) => (7 * at * at + 13 * at + (at < common ? 0 : number + 1)) % 50),
    ]),
  );

/** Reads prompts of trajectories at once, `keeping` so many bytes of them: how many tokens went through the model, and what each is continued with. */
async function read(decoder: CachedDecoder, all: ReadonlyMap<number, number[]>, keeping = 2 ** 30) {
  let tokens = 0;
  const run: CachedDecoder["run"] = (request) => {
    tokens += request.tokens.reduce((sum, row) => sum + row.length, 0);
    return decoder.run(request);
  };
  const store = createPrefixStore();
  store.limit(keeping);
  const reader = createPromptReader({ ...decoder, run }, undefined, store, "weights");
  const samples = Array.from(
    all,
    ([number, prompt]) =>
      new Promise<Sample>((finish, fail) => {
        const key = { seed: 1, trajectory: `t${number}`, turn: 0 };
        const request = { tokens: prompt, version: 0, sampling: { temperature: 1, maxTokens: 1 }, key };
        const limits = { arrival: number, limit: 1, stopTokens: new Set<number>(), decode: () => "" };
        const sequence = createSequence(request, limits, { settled: () => {}, finish, fail });
        reader.add(sequence);
      }),
  );
  let steps = 0;
  for (; reader.isReading(); steps++) await reader.step(() => {});
  return { tokens, steps, samples: await Promise.all(samples) };
}

test("what prompts begin with alike is read once, and they are continued as if each were read alone", async () => {
  const decoder = await opened();
  const all = prompts(600, 8, 680);
  const together = await read(decoder, all);
  // The first whole, of the others what is not kept: from token 592 on.
  expect(together.tokens).toBe(680 + 7 * (680 - 592));
  for (const [number, prompt] of all) {
    const { tokens, samples } = await read(decoder, new Map([[number, prompt]]));
    expect(tokens).toBe(680);
    const [alone, beside] = [samples[0]!, together.samples[number]!];
    expect(alone.tokens).toEqual(beside.tokens);
    if (process.arch === "x64") expect(alone).toEqual(beside);
  }
  await decoder.close();
});

test("prompts that have little in common are read at once", async () => {
  const decoder = await opened();
  const { tokens, steps } = await read(decoder, prompts(40, 8, 100));
  expect(tokens).toBe(800);
  expect(steps).toBe(1);
  await decoder.close();
});

test("where nothing is kept, prompts that waited are read whole, together", async () => {
  const decoder = await opened();
  const { tokens, steps } = await read(decoder, prompts(240, 8, 250), 0);
  expect(tokens).toBe(8 * 250);
  expect(steps).toBe(2);
  await decoder.close();
});

test("long prompts are read few at a time, so that little memory is wanted for them beside that of their continuations", async () => {
  const sized = { ...config, max_position_embeddings: 8192 };
  const folder = await modelFolder(sized, randomModelWeights(sized, 3));
  const decoder = await createCachedDecoder(sized, await weightSources(folder), { threads: 2 });
  const store = createPrefixStore();
  store.limit(2 ** 30);
  const reader = createPromptReader(decoder, undefined, store, "weights");
  const ended: number[] = [];
  for (const [number, prompt] of prompts(0, 5, 3000)) {
    const key = { seed: 1, trajectory: `t${number}`, turn: 0 };
    const request = { tokens: prompt, version: 0, sampling: { temperature: 1, maxTokens: 1 }, key };
    const limits = { arrival: number, limit: 1, stopTokens: new Set<number>(), decode: () => "" };
    const finish = () => void ended.push(number);
    reader.add(createSequence(request, limits, { settled: () => {}, finish, fail: () => {} }));
  }
  const bytes = bytesOfPosition(sized) * 3008; // rounded up to what memory is counted by
  let most = 0;
  while (reader.isReading()) {
    expect(reader.needs([])).toBeLessThanOrEqual(2 * bytes);
    most = Math.max(most, reader.bytes());
    await reader.step(() => {});
  }
  expect(most).toBe(2 * bytes);
  expect(ended).toEqual([0, 1, 2, 3, 4]);
  await decoder.close();
});
