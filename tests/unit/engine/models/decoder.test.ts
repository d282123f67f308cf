import { expect, test } from "vitest";
import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { passGradients } from "../../../../src/engine/learning/pass-gradients.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { checkModelWeights, modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { relativeError, torchFixture, withPrefix } from "../../torch-fixtures.ts";
import { logitsOf } from "./logits-of.ts";

const families = [
  "llama",
  "smollm2",
  "smollm3",
  "mistral",
  "qwen2",
  "qwen3",
  "qwen3_moe",
  "olmoe",
  "phi3",
  "gemma",
  "gemma2",
  "gemma3",
];

async function family(name: string) {
  const { config, json, tensors } = await torchFixture(name, "families");
  return { config, tensors, sequences: json.sequences as TokenSequence[], loss: Number(json.loss) };
}

test.each(families)("%s: the logits of a ragged batch are those of transformers", async (name) => {
  const { config, tensors, sequences } = await family(name);
  checkModelWeights(config, tensors);
  const logits = await logitsOf(config, tensors, sequences);
  let start = 0;
  for (const [index, { tokens }] of sequences.entries()) {
    const end = start + tokens.length * config.vocab_size;
    const expected = tensors.get(`logits.${index}`)!.data;
    expect(relativeError(logits.slice(start, end), expected)).toBeLessThan(1e-5);
    start = end;
  }
});

test.each(families)("%s: loss and every gradient of a ragged batch are those of PyTorch", async (name) => {
  const { config, tensors, sequences, loss } = await family(name);
  const weights = new Map([...modelWeightShapes(config).keys()].map((key) => [key, tensors.get(key)!]));
  const model = trainingModel({ config }, supervisedObjective);
  const session = await createModelSession(model.bytes, { threads: 1 });
  const batch = batchSequences(sequences, config);
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
  const expected = withPrefix(tensors, "gradient.");
  expect([...expected.keys()].sort()).toEqual([...weights.keys()].sort());
  const zero = /k_proj\.bias$/; // softmax doesn't see what all scores of a query share
  const errors = [...expected].flatMap(([key, { data }]) => {
    const ours = gradients.get(key)!;
    // those of an expert that no token chose
    if (data.every((value) => value === 0)) return ours.every((value) => value === 0) ? [] : [1];
    return zero.test(key) ? [] : [relativeError(ours, data)];
  });
  expect(Math.max(...errors)).toBeLessThan(1e-4);
});
