import { expect, test } from "vitest";
import { featuresError, gradientsError, greedyTokens, logitsError } from "../../../vision/compared.ts";
import { visionFixture, visionModels } from "../../../vision/vision-fixtures.ts";
import { visionGradientsError } from "../../../vision/vision-gradients.ts";
import { updatesError } from "../../../vision/vision-updates.ts";

test.each(visionModels)("%s: the encoder's features are those of transformers", async (name) => {
  expect(await featuresError(await visionFixture(name))).toBeLessThan(1e-5);
});

test.each(visionModels)("%s: the logits of a ragged batch with images are transformers'", async (name) => {
  expect(await logitsError(await visionFixture(name))).toBeLessThan(1e-5);
});

test.each(visionModels)("%s: loss and gradients of the language part are PyTorch's", async (name) => {
  const errors = await gradientsError(await visionFixture(name));
  expect(errors.loss).toBeLessThan(1e-5);
  expect(errors.gradients).toBeLessThan(1e-4);
});

test.each(visionModels)("%s: gradients of the encoder and the connector are PyTorch's", async (name) => {
  expect(await visionGradientsError(await visionFixture(name))).toBeLessThan(1e-4);
});

const updates = visionModels.flatMap((name) => [1024, 8].map((tokens) => ({ name, tokens })));

test.each(updates)(
  "$name: two updates of all weights in passes of $tokens tokens end where PyTorch ends",
  async ({ name, tokens }) => {
    const errors = await updatesError(await visionFixture(name), tokens);
    expect(errors.language).toBeLessThan(1e-3);
    expect(errors.vision).toBeLessThan(2e-4);
  },
);

const runs = visionModels.flatMap((name) => [1, 8].map((slots) => ({ name, slots })));

test.each(runs)("$name: $slots at a time give transformers' greedy tokens", async ({ name, slots }) => {
  const fixture = await visionFixture(name);
  const expected = fixture.sequences.map(({ greedy }) => greedy);
  expect(await greedyTokens(fixture, slots)).toEqual([...expected, ...expected]);
});

test.each(visionModels)(
  "%s: a likely image token is neither sampled nor counted in training",
  async (name) => {
    const fixture = await visionFixture(name);
    const { config, vision, tensors } = fixture;
    const head = tensors.get(config.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight")!;
    const start = vision.image_token_id * config.hidden_size;
    // Its logit is now the largest at about half of the places. As an input, an image replaces it.
    for (let at = start; at < start + config.hidden_size; at++) head.data[at]! *= 1000;
    const expected = fixture.sequences.map(({ greedy }) => greedy);
    expect(await greedyTokens(fixture, 8)).toEqual([...expected, ...expected]);
    const errors = await gradientsError(fixture);
    expect(errors.loss).toBeLessThan(1e-5);
    expect(errors.gradients).toBeLessThan(1e-4);
  },
);
