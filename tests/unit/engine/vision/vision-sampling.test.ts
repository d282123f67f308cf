import { expect, test } from "vitest";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { createSampler } from "../../../../src/engine/sampling/sampler.ts";
import { modelFolder } from "../sampling/policy-folders.ts";
import { openImages, visionFixture, visionModels } from "./vision-fixtures.ts";

const runs = visionModels.flatMap((name) => [1, 8].map((slots) => ({ name, slots })));

test.each(runs)(
  "$name: $slots at a time give transformers' greedy tokens after images",
  async ({ name, slots }) => {
    const fixture = await visionFixture(name);
    const { config, tensors, sequences } = fixture;
    const { encoder, table } = openImages(fixture);
    const weights = new Map([...modelWeightShapes(config).keys()].map((key) => [key, tensors.get(key)!]));
    const sampler = createSampler({ config, slots, stopTokens: [], threads: 2, decode: () => "" });
    await sampler.load(0, await modelFolder(config, weights));
    const samples = await Promise.all(
      [...sequences, ...sequences].map(async ({ tokens, images, greedy }, index) => {
        const placed = await table.place(tokens, images, async (sha256) => fixture.images[Number(sha256)]!);
        const sample = await sampler.generate({
          tokens: placed.tokens,
          embeddings: table,
          version: 0,
          sampling: { temperature: 0, maxTokens: greedy.length },
          key: { seed: 1, trajectory: `t${index}`, turn: 0 },
        });
        placed.release();
        return sample.tokens;
      }),
    );
    await sampler.close();
    await encoder.close();
    const expected = sequences.map(({ greedy }) => greedy);
    expect(samples).toEqual([...expected, ...expected]);
  },
);
