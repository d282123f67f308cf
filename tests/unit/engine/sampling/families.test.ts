import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { createSampler, type Sampler } from "../../../../src/engine/sampling/sampler.ts";
import { torchFixture } from "../../torch-fixtures.ts";
import { modelFolder } from "./policy-folders.ts";

type GreedyCase = { prompt: number[]; tokens: number[]; logprobs: number[] };
type Fixture = { positions: number; families: Record<string, GreedyCase[]> };

const names = ["llama", "smollm2", "mistral", "qwen2", "qwen3", "gemma"];
const path = new URL("../../../fixtures/families/greedy.json", import.meta.url);
const fixture: Fixture = JSON.parse(await readFile(path, "utf8"));
const opened: Sampler[] = [];
afterAll(async () => {
  for (const sampler of opened) await sampler.close();
});

async function open(name: string, slots: number): Promise<Sampler> {
  const { config, tensors } = await torchFixture(name, "families");
  const longer = modelConfig({ ...config, max_position_embeddings: fixture.positions });
  const weights = new Map([...modelWeightShapes(longer).keys()].map((key) => [key, tensors.get(key)!]));
  const sampler = createSampler({ config: longer, slots, stopTokens: [], threads: 2, decode: () => "" });
  opened.push(sampler);
  await sampler.load(0, await modelFolder(longer, weights));
  return sampler;
}

const runs = names.flatMap((name) => [1, 8, 32].map((slots) => ({ name, slots })));

test.each(runs)("$name: $slots at a time give transformers' greedy tokens", async ({ name, slots }) => {
  const sampler = await open(name, slots);
  const cases = fixture.families[name]!;
  const samples = await Promise.all(
    cases.map(({ prompt, tokens }, index) =>
      sampler.generate({
        tokens: prompt,
        version: 0,
        sampling: { temperature: 0, maxTokens: tokens.length },
        key: { seed: 1, trajectory: `t${index}`, turn: 0 },
      }),
    ),
  );
  expect(samples.map(({ tokens }) => tokens)).toEqual(cases.map(({ tokens }) => tokens));
  const gaps = samples.flatMap(({ logprobs }, index) =>
    logprobs.map((logprob, at) => Math.abs(logprob - cases[index]!.logprobs[at]!)),
  );
  expect(Math.max(...gaps)).toBeLessThan(1e-4);
});
