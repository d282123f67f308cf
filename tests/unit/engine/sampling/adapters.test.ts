import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { adapterShapes } from "../../../../src/engine/learning/lora.ts";
import { writeAdapter } from "../../../../src/engine/models/weights/adapter-folder.ts";
import { loadAll } from "../../../../src/engine/models/weights/lazy-tensor.ts";
import { mergeAdapter } from "../../../../src/engine/models/weights/merge-adapter.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { createSampler } from "../../../../src/engine/sampling/sampler.ts";
import { clockAhead } from "../../../support/clock-ahead.ts";
import { smallModel } from "../../../support/small-model.ts";
import { modelFolder } from "./policy-folders.ts";

const config = smallModel(256);
const weights = randomModelWeights(config, 3);
const base = await modelFolder(config, weights);
const root = await mkdtemp(join(tmpdir(), "everturn-adapters-"));
const sampler = createSampler({ config, slots: 16, stopTokens: [], threads: 2, decode: () => "" });
afterAll(() => sampler.close());

/** An adapter whose two matrices are far from zero. */
async function adapter(name: string, alpha: number, seed: number, model = { config, weights, base }) {
  const settings = { rank: 4, alpha, targets: ["q_proj", "v_proj", "down_proj"] };
  const tensors = new Map<string, Tensor>();
  for (const [key, shape] of adapterShapes(model.config, settings)) {
    const data = Float32Array.from(
      { length: shape[0]! * shape[1]! },
      (_, at) => 0.2 * Math.sin(seed + at * 1.7),
    );
    tensors.set(key, { shape, data });
  }
  const folder = join(root, name);
  await mkdir(folder);
  const settingsWithBase = { ...settings, base: model.base };
  await writeAdapter(folder, settingsWithBase, tensors);
  const merged = await loadAll(mergeAdapter(model.weights, { config: settingsWithBase, tensors }));
  return { folder, merged };
}

const request = (version: number, index: number) => ({
  tokens: Array.from({ length: 5 + 9 * index }, (_, at) => (at * at + 3 * index) % 50),
  version,
  sampling: { temperature: 0, maxTokens: 12 },
  key: { seed: 1, trajectory: `t${index}`, turn: 0 },
});

// alpha 4: a factor of 1; alpha 8: of 2. Both would take another kernel for a single row.
test.each([4, 8, 6])(
  "an adapter of alpha %i samples as its merged weights do, alone and together",
  async (alpha) => {
    const { folder, merged } = await adapter(`alpha-${alpha}`, alpha, alpha);
    await sampler.load(alpha, folder);
    await sampler.load(alpha + 100, await modelFolder(config, merged));
    const indices = [0, 1, 2, 3, 4, 5, 6, 7];
    const together = await Promise.all(indices.map((index) => sampler.generate(request(alpha, index))));
    for (const index of indices) {
      const expected = await sampler.generate(request(alpha + 100, index));
      expect(together[index]!.tokens).toEqual(expected.tokens);
      expected.logprobs.forEach((logprob, at) => {
        expect(together[index]!.logprobs[at]).toBeCloseTo(logprob, 4);
      });
      const alone = await sampler.generate(request(alpha, index));
      if (process.arch === "x64") expect(alone).toEqual(together[index]);
    }
  },
);

test("the base's own version, which nobody uses, is let go when an adapter of it comes: its weights are held once", async () => {
  const [{ folder: first }, { folder: second }] = [await adapter("one", 5, 7), await adapter("other", 5, 8)];
  const own = createSampler({ config, slots: 16, stopTokens: [], threads: 2, decode: () => "" });
  await own.load(0, base);
  const before = await own.generate(request(0, 2));
  let isComing = true;
  const busy = [20, 30, 40, 50].map(async (maxTokens) => {
    while (isComing) await own.generate({ ...request(0, 3), sampling: { temperature: 0, maxTokens } });
  });
  await own.load(1, first);
  expect([0, 1].map(own.isLoaded), "in use").toEqual([true, true]);
  isComing = false;
  await Promise.all(busy);
  await own.load(2, second);
  expect([0, 1, 2].map(own.isLoaded), "idle").toEqual([false, true, true]);
  clockAhead(60_000);
  await own.load(3, (await adapter("third", 5, 9)).folder);
  expect([1, 2, 3].map(own.isLoaded), "idle for long, on the weights that the next needs").toEqual([
    true,
    true,
    true,
  ]);
  vi.restoreAllMocks();
  await own.load(0, base);
  expect(await own.generate(request(0, 2))).toEqual(before);
  await own.close();
});

test("versions with other adapters sample at the same time, each with its own", async () => {
  const first = await adapter("first", 4, 1);
  const second = await adapter("second", 4, 2);
  await sampler.load(1, first.folder);
  await sampler.load(2, second.folder);
  const [a, b] = await Promise.all([sampler.generate(request(1, 5)), sampler.generate(request(2, 5))]);
  expect(a.tokens).not.toEqual(b.tokens);
});

test("with keys and values of 8 bits, whose scales an adapter's version shares, it doesn't count which came first", async () => {
  const wide = { ...config, head_dim: 16 };
  const wideWeights = randomModelWeights(wide, 3);
  const model = { config: wide, weights: wideWeights, base: await modelFolder(wide, wideWeights) };
  const versions = [await adapter("rounded", 4, 1, model), await adapter("also rounded", 4, 2, model)];
  const roundedBy = Array.from({ length: 60 }, (_, at) => (7 * at * at + at) % 50);
  const found = [];
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const options = { slots: 16, stopTokens: [], threads: 2, decode: () => "" };
    const own = createSampler({ config: wide, ...options, roundedBy });
    for (const version of order) await own.load(version, versions[version]!.folder);
    found.push([await own.generate(request(0, 5)), await own.generate(request(1, 5))]);
    await own.close();
  }
  expect(found[1]).toEqual(found[0]);
});
