import { expect, test } from "vitest";

import { batchFeeds, batchSequences } from "../../../src/learning/batch.ts";
import { objectiveFeeds } from "../../../src/learning/objective.ts";
import { runSizes } from "../../../src/learning/step-plan.ts";
import { supervisedObjective } from "../../../src/learning/supervised-objective.ts";
import { attentionForms } from "../../../src/learning/token-runs.ts";
import { freshTrainerState, parametersOf } from "../../../src/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../src/learning/training-engine.ts";
import { trainingModel } from "../../../src/learning/training-graphs.ts";
import type { AttentionForm } from "../../../src/models/decoder.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import { createSession } from "../../../src/onnx/create-session.ts";
import { peakBytes } from "../../../src/onnx/peak-memory.ts";
import { tileSize } from "../../../src/onnx/tiled-attention.ts";
import { relativeError } from "../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config: short } = await ppoFixture();
const config = { ...short, max_position_embeddings: 2048 };
const sequence = (length: number, offset: number) => ({
  tokens: Array.from({ length }, (_, at) => (offset + 7 * at) % config.vocab_size),
  mask: Array.from({ length }, (_, at) => (at % 100 > 90 ? 1 : 0)),
});

const sampleOf = (one: ReturnType<typeof sequence>) => {
  const count = one.mask.filter(Boolean).length;
  return { sequences: [one], columns: { weights: new Float32Array(count).fill(1 / count) } };
};

test("each form of attention gives the gradients that it gives with its weights kept", async () => {
  const sequences = [sequence(700, 1), sequence(1100, 3)];
  const state = freshTrainerState({ config }, randomModelWeights(config, 1));
  const run = async (attention: AttentionForm) => {
    const { graph, bytes, reads } = trainingModel({ config, attention }, supervisedObjective);
    const parameters = parametersOf(state);
    const session = await createSession(bytes);
    const outputs = await session.run({
      ...Object.fromEntries(reads.map((name) => [name, parameters.get(name)!])),
      ...batchFeeds(batchSequences(sequences, config, attention === "tiled" ? tileSize : 1)),
      ...objectiveFeeds(supervisedObjective, sequences.map(sampleOf), {}),
    });
    const found = [...graph.outputs.keys()].map((name) => [name, outputs.floats(name).slice()] as const);
    await session.close();
    return new Map(found);
  };
  const kept = await run("kept");
  expect(await run("again")).toEqual(kept); // to the last bit: the same operators
  for (const [name, numbers] of await run("tiled"))
    expect(relativeError(numbers, kept.get(name)!), name).toBeLessThan(1e-4);
});

test("attention's weights that are made again take no memory but of one layer", () => {
  const peak = (attention: AttentionForm) => {
    const model = trainingModel(
      { config: { ...config, num_hidden_layers: 16 }, attention },
      supervisedObjective,
    );
    return peakBytes(model.graph, runSizes(Array.from({ length: 8 }, (_, at) => [sequence(900, at)])));
  };
  expect(peak("again")).toBeLessThan(peak("kept") / 4);
});

test("runs keep attention's weights up to 512 tokens, make them again up to 1,024, and have tiles above", () => {
  const forms = (...lengths: number[]) => attentionForms(lengths.map((length) => [sequence(length + 1, 1)]));
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
    ...{ objective: supervisedObjective, samples: sequences.map(sampleOf), scalars: {}, learningRate: 1e-3 },
  });
  await engine.close();
  const scored = Float32Array.from(scores.flatMap((score) => [...score.logProbabilities]));
  expect(relativeError(logProbabilities, scored)).toBeLessThan(1e-5);
  expect(gradientNorm).toBeGreaterThan(0);
});
