import { batchFeeds, batchSequences, type TokenSequence } from "../../src/engine/learning/batch.ts";
import { passGradients } from "../../src/engine/learning/pass-gradients.ts";
import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { trainingModel } from "../../src/engine/learning/training-graphs.ts";
import { modelWeightShapes } from "../../src/engine/models/weights/model-weights.ts";
import { isVisionWeight } from "../../src/engine/models/weights/vision-weights.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";
import { createSampler } from "../../src/engine/sampling/sampler.ts";
import type { ImageTable } from "../../src/engine/vision/image-table.ts";
import { logitsOf } from "../unit/engine/models/logits-of.ts";
import { modelFolder } from "../unit/engine/sampling/policy-folders.ts";
import { relativeError, withPrefix } from "../unit/torch-fixtures.ts";
import { languageTensors, openImages, type VisionFixture } from "./vision-fixtures.ts";

/** The largest error of the encoder's embeddings, relative to the largest number of transformers' for an image. */
export async function featuresError(fixture: VisionFixture): Promise<number> {
  const { encoder } = openImages(fixture);
  const errors: number[] = [];
  for (const [index, image] of fixture.images.entries()) {
    const features = await encoder.encode(image);
    errors.push(relativeError(features, fixture.tensors.get(`features.${index}`)!.data));
  }
  await encoder.close();
  return Math.max(...errors);
}

/** The largest relative error of the logits of a ragged batch. Those of image tokens, which no policy writes, are 0 in both. */
export async function logitsError(fixture: VisionFixture): Promise<number> {
  const { config, tensors } = fixture;
  const sequences = await placedSequences(fixture);
  const logits = await logitsOf(config, tensors, sequences);
  let start = 0;
  const errors = sequences.map(({ tokens }, index) => {
    const end = start + tokens.length * config.vocab_size;
    const written = (values: Float32Array) =>
      values.map((value, at) => (at % config.vocab_size === fixture.vision.image_token_id ? 0 : value));
    const own = written(logits.slice(start, end));
    start = end;
    return relativeError(own, written(tensors.get(`logits.${index}`)!.data));
  });
  return Math.max(...errors);
}

/** The error of the loss, and the largest relative error of the gradients of the language part. */
export async function gradientsError(fixture: VisionFixture): Promise<{ loss: number; gradients: number }> {
  const { config, tensors, loss } = fixture;
  const model = trainingModel({ config }, supervisedObjective);
  const session = await createModelSession(model.bytes, { threads: 1 });
  const batch = batchSequences(await placedSequences(fixture), config);
  const actions = batch.actions.length;
  const feeds = {
    ...Object.fromEntries(languageTensors(fixture)),
    ...batchFeeds(batch),
    weights: { shape: [actions], data: new Float32Array(actions).fill(1 / actions) },
  };
  const outputs = await session.run(feeds);
  const gradients = passGradients(model, outputs, feeds);
  await session.close();
  const expected = withPrefix(tensors, "gradient.");
  const zero = /k_proj\.bias$/; // softmax doesn't see what all scores of a query share
  const errors = [...modelWeightShapes(config).keys()]
    .filter((name) => !isVisionWeight(name) && !zero.test(name))
    .map((name) => relativeError(gradients.get(name)!, expected.get(name)!.data));
  return { loss: Math.abs(outputs.floats("loss")[0]! - loss), gradients: Math.max(...errors) };
}

/** The greedy continuations of the fixture's sequences, each sampled twice at the same time. */
export async function greedyTokens(fixture: VisionFixture, slots: number): Promise<number[][]> {
  const { config, sequences } = fixture;
  const { encoder, table } = openImages(fixture);
  const sampler = createSampler({ config, slots, stopTokens: [], threads: 2, decode: () => "" });
  await sampler.load(0, await modelFolder(config, languageTensors(fixture)));
  const samples = await Promise.all(
    [...sequences, ...sequences].map(async ({ tokens, images, greedy }, index) => {
      const placed = await table.replace(tokens, images, async (sha256) => fixture.images[Number(sha256)]!);
      const { tokens: sampled } = await sampler.generate({
        tokens: placed.tokens,
        embeddings: table,
        version: 0,
        sampling: { temperature: 0, maxTokens: greedy.length },
        key: { seed: 1, trajectory: `t${index}`, turn: 0 },
      });
      placed.release();
      return sampled;
    }),
  );
  await sampler.close();
  await encoder.close();
  return samples;
}

/** The fixture's sequences with ids of their own for image tokens. */
export async function placedSequences(fixture: VisionFixture): Promise<TokenSequence[]> {
  const { table, encoder } = openImages(fixture);
  const sequences = await placedIn(table, fixture.images, fixture.sequences);
  await encoder.close();
  return sequences;
}

/** Sequences with the ids of a table for their image tokens. Images are named by their numbers. */
export async function placedIn(
  table: ImageTable,
  prepared: VisionFixture["images"],
  given: VisionFixture["sequences"],
): Promise<TokenSequence[]> {
  const sequences: TokenSequence[] = [];
  for (const { tokens, mask, images } of given) {
    const placed = await table.replace(tokens, images, async (sha256) => prepared[Number(sha256)]!);
    sequences.push({ tokens: placed.tokens, mask, embeddings: table });
  }
  return sequences;
}
