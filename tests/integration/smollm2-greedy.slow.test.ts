import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { importModel } from "../../src/engine/models/policy/import-model.ts";
import { createSampler } from "../../src/engine/sampling/sampler.ts";

type GreedyCase = { prompt: number[]; tokens: number[]; logprobs: number[] };

const path = new URL("../fixtures/smollm2/greedy.json", import.meta.url);
const cases: GreedyCase[] = JSON.parse(await readFile(path, "utf8"));
const endOfTurn = 2;
/** Of the 50: all of them take half a minute of both cores. */
const prompts = Number(process.env.EVERTURN_PROMPTS ?? 8);
const asked = cases.slice(0, prompts);

test("SmolLM2, imported from its GGUF, gives transformers' greedy continuations of its prompts", async () => {
  const folder = await cachedFolder(join(cacheFolder(), "models", "smollm2-135m-instruct"), (made) =>
    importModel("smollm2-135m-instruct", made),
  );
  const config = await readModelConfig(join(folder, "config.json"));
  const sampler = createSampler({ config, slots: 6, stopTokens: [endOfTurn], threads: 2, decode: () => "" });
  await sampler.load(0, folder);
  const samples = await Promise.all(
    asked.map(({ prompt }, index) =>
      sampler.generate({
        tokens: prompt,
        version: 0,
        sampling: { temperature: 0, maxTokens: 32 },
        key: { seed: 1, trajectory: `t${index}`, turn: 0 },
      }),
    ),
  );
  await sampler.close();
  expect(samples).toHaveLength(prompts);
  expect(samples.map(({ tokens }) => tokens)).toEqual(asked.map(({ tokens }) => tokens));
  const gaps = samples.flatMap(({ logprobs }, index) =>
    logprobs.map((logprob, at) => Math.abs(logprob - asked[index]!.logprobs[at]!)),
  );
  expect(Math.max(...gaps)).toBeLessThan(1e-4);
});
