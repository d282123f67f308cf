import { expect, test } from "vitest";
import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { passGradients } from "../../../../src/engine/learning/pass-gradients.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { isVisionWeight } from "../../../../src/engine/models/weights/vision-weights.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { relativeError, withPrefix } from "../../torch-fixtures.ts";
import { logitsOf } from "../models/logits-of.ts";
import { openImages, visionFixture, visionModels } from "./vision-fixtures.ts";

async function placedSequences(fixture: Awaited<ReturnType<typeof visionFixture>>) {
  const { table, encoder } = openImages(fixture);
  const sequences: TokenSequence[] = [];
  for (const { tokens, mask, images } of fixture.sequences) {
    const placed = await table.place(tokens, images, async (sha256) => fixture.images[Number(sha256)]!);
    sequences.push({ tokens: placed.tokens, mask, embeddings: table });
  }
  await encoder.close();
  return sequences;
}

test.each(visionModels)("%s: the encoder's features are those of transformers", async (name) => {
  const fixture = await visionFixture(name);
  const { encoder } = openImages(fixture);
  for (const [index, image] of fixture.images.entries()) {
    const features = await encoder.encode(image);
    expect(relativeError(features, fixture.tensors.get(`features.${index}`)!.data)).toBeLessThan(1e-5);
  }
  await encoder.close();
});

test.each(visionModels)(
  "%s: the logits of a ragged batch with images are those of transformers",
  async (name) => {
    const fixture = await visionFixture(name);
    const { config, tensors } = fixture;
    const sequences = await placedSequences(fixture);
    const logits = await logitsOf(config, tensors, sequences);
    let start = 0;
    for (const [index, { tokens }] of sequences.entries()) {
      const end = start + tokens.length * config.vocab_size;
      const expected = tensors.get(`logits.${index}`)!.data;
      expect(relativeError(logits.slice(start, end), expected)).toBeLessThan(1e-5);
      start = end;
    }
  },
);

test.each(visionModels)("%s: loss and gradients of the language part are those of PyTorch", async (name) => {
  const fixture = await visionFixture(name);
  const { config, tensors, loss } = fixture;
  const weights = new Map([...modelWeightShapes(config).keys()].map((key) => [key, tensors.get(key)!]));
  const model = trainingModel({ config }, supervisedObjective);
  const session = await createModelSession(model.bytes, { threads: 1 });
  const batch = batchSequences(await placedSequences(fixture), config);
  const actions = batch.actions.length;
  const feeds = {
    ...Object.fromEntries(weights),
    ...batchFeeds(batch),
    weights: { shape: [actions], data: new Float32Array(actions).fill(1 / actions) },
  };
  const outputs = await session.run(feeds);
  const gradients = passGradients(model, outputs, feeds);
  await session.close();
  expect(outputs.floats("loss")[0]).toBeCloseTo(loss, 5);
  const expected = [...withPrefix(tensors, "gradient.")].filter(([key]) => !isVisionWeight(key));
  expect(expected.map(([key]) => key).sort()).toEqual([...weights.keys()].sort());
  const errors = expected.map(([key, { data }]) => relativeError(gradients.get(key)!, data));
  expect(Math.max(...errors)).toBeLessThan(1e-4);
});
