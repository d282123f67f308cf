import { expect, test } from "vitest";

import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { objectiveFeeds } from "../../../../src/engine/learning/objective.ts";
import { passSizes } from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { attentionForms, prefixLength } from "../../../../src/engine/learning/token-passes.ts";
import { freshTrainerState, parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import { trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { AttentionForm } from "../../../../src/engine/models/graph/decoder.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { tileSize } from "../../../../src/engine/onnx/tiled-attention.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config: short } = await ppoFixture();
const config = { ...short, max_position_embeddings: 2048 };
const sequence = (length: number, offset: number) => ({
  tokens: Array.from({ length }, (_, at) => (offset + 7 * at) % config.vocab_size),
  mask: Array.from({ length }, (_, at) => (at % 100 > 90 ? 1 : 0)),
});

const sampleOf = (one: TokenSequence) => {
  const count = one.mask.filter(Boolean).length;
  return { sequences: [one], columns: { weights: new Float32Array(count).fill(1 / count) } };
};

/** Loss, log-probabilities and gradients of sequences, by name. */
async function runWith(
  attention: AttentionForm,
  sequences: readonly TokenSequence[],
  model = config,
): Promise<Map<string, Float32Array>> {
  const { graph, bytes, reads } = trainingModel({ config: model, attention }, supervisedObjective);
  const parameters = parametersOf(freshTrainerState({ config: model }, randomModelWeights(model, 1)));
  const session = await createModelSession(bytes);
  const prefix = prefixLength(attention, sequences);
  const outputs = await session.run({
    ...Object.fromEntries(reads.map((name) => [name, parameters.get(name)!])),
    ...batchFeeds(batchSequences(sequences, model, attention === "tiled" ? tileSize : 1, prefix)),
    ...objectiveFeeds(supervisedObjective, sequences.map(sampleOf), {}),
  });
  const found = [...graph.outputs.keys()].map((name) => [name, outputs.floats(name).slice()] as const);
  await session.close();
  return new Map(found);
}

test("each form of attention gives the gradients that it gives with its weights kept", async () => {
  const sequences = [sequence(700, 1), sequence(1100, 3)];
  const kept = await runWith("kept", sequences);
  expect(await runWith("again", sequences)).toEqual(kept); // to the last bit: the same operators
  for (const [name, numbers] of await runWith("tiled", sequences))
    expect(relativeError(numbers, kept.get(name)!), name).toBeLessThan(1e-4);
});

/** Sequences that begin with the same 60 tokens, two of them with 20 more that others don't have, and go on for so many. */
const alike = [30, 35, 7, 12].map((length, number): TokenSequence => {
  const prompt = Array.from({ length: 60 }, (_, at) => (3 + 7 * at) % config.vocab_size);
  const more = number < 2 ? Array.from({ length: 20 }, (_, at) => (5 * at) % config.vocab_size) : [];
  const own = Array.from({ length }, (_, at) => (11 * number + 13 * at) % config.vocab_size);
  const before = [...prompt, ...more];
  return { tokens: [...before, ...own], mask: [...before.map(() => 0), ...own.map(() => 1)] };
});

/** Heads of a size that the runtime's operator takes. */
const wide = { ...config, head_dim: 16 };

test.each([
  ["", wide],
  [
    ", with a window that ends within it",
    modelConfig({ ...wide, model_type: "mistral", sliding_window: 40 }),
  ],
])("what all sequences begin with attends once and has the same gradients%s", async (_, model) => {
  expect(prefixLength("prefixed", alike)).toBe(59); // what predicts an action is a sequence's own
  const whole = await runWith("kept", alike, model);
  const apart = await runWith("prefixed", alike, model);
  for (const [name, numbers] of apart)
    expect(relativeError(numbers, whole.get(name)!), name).toBeLessThan(1e-5);
  expect(await runWith("prefixedAgain", alike, model)).toEqual(apart);
});

test("sequences that share half of the longest attend after a prefix, others whole", () => {
  const form = (sequences: readonly TokenSequence[], model = wide) => attentionForms([sequences], model)[0];
  expect(form(alike)).toBe("prefixed");
  expect(form(alike.slice(0, 1))).toBe("kept");
  expect(form([...alike, sequence(120, 1)])).toBe("kept");
  const more = Array.from({ length: 20 }, () => 1);
  const longer = { tokens: [...alike[0]!.tokens, ...more], mask: [...alike[0]!.mask, ...more] };
  expect(form([...alike, longer])).toBe("kept");
  expect(form(alike, { ...wide, attn_logit_softcapping: 50 })).toBe("kept");
  expect(form(alike, { ...wide, head_dim: 4 })).toBe("kept");
  const before = Array.from({ length: 500 }, () => 0);
  const long = alike.map(({ tokens, mask }) => ({
    tokens: [...before, ...tokens],
    mask: [...before, ...mask],
  }));
  expect(form(long)).toBe("prefixedAgain");
});

test("attention's weights that are made again take no memory but of one layer", () => {
  const peak = (attention: AttentionForm) => {
    const model = trainingModel(
      { config: { ...config, num_hidden_layers: 16 }, attention },
      supervisedObjective,
    );
    return peakBytes(model.graph, passSizes(Array.from({ length: 8 }, (_, at) => [sequence(900, at)])));
  };
  expect(peak("again")).toBeLessThan(peak("kept") / 4);
});

test("passes keep attention's weights up to 512 tokens, make them again up to 1,024, and have tiles above", () => {
  const forms = (...lengths: number[]) =>
    attentionForms(
      lengths.map((length) => [sequence(length + 1, 1)]),
      config,
    );
  // The last token that has a part in the loss is at 499.
  expect(forms(300, 499)).toEqual(["kept", "kept"]);
  expect(forms(300, 800)).toEqual(["again", "again"]);
  expect(forms(300, 1999)).toEqual(["again", "tiled"]);
});

test("long and short trajectories of one minibatch train together, and are scored as they are trained", async () => {
  const sequences = [sequence(300, 5), sequence(1300, 3)];
  const state = freshTrainerState({ config }, randomModelWeights(config, 1));
  const engine = createTrainingEngine({ config, state, gradientClip: 1, weightDecay: 0 });
  const scores = await engine.score(sequences, "policy");
  const { logProbabilities, gradientNorm } = await engine.update({
    objective: supervisedObjective,
    samples: sequences.map(sampleOf),
    scalars: {},
    learningRate: 1e-3,
  });
  await engine.close();
  const scored = Float32Array.from(scores.flatMap((score) => [...score.logProbabilities]));
  expect(relativeError(logProbabilities, scored)).toBeLessThan(1e-5);
  expect(gradientNorm).toBeGreaterThan(0);
});
