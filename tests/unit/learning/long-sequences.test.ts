import { expect, test } from "vitest";

import { batchFeeds, batchSequences } from "../../../src/learning/batch.ts";
import { objectiveFeeds } from "../../../src/learning/objective.ts";
import { supervisedObjective } from "../../../src/learning/supervised-objective.ts";
import { freshTrainerState, parametersOf } from "../../../src/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../src/learning/training-engine.ts";
import { trainingModel } from "../../../src/learning/training-graphs.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import { createSession } from "../../../src/onnx/session.ts";
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

test("a batch padded to whole tiles gives the gradients that it gives in one piece", async () => {
  const sequences = [sequence(700, 1), sequence(1100, 3)];
  const state = freshTrainerState({ config }, randomModelWeights(config, 1));
  const run = async (tiled: boolean) => {
    const { graph, bytes, reads } = trainingModel({ config, tiled }, supervisedObjective);
    const parameters = parametersOf(state);
    const session = await createSession(bytes);
    const outputs = await session.run({
      ...Object.fromEntries(reads.map((name) => [name, parameters.get(name)!])),
      ...batchFeeds(batchSequences(sequences, config, tiled ? tileSize : 1)),
      ...objectiveFeeds(supervisedObjective, sequences.map(sampleOf), {}),
    });
    const found = [...graph.outputs.keys()].map((name) => [name, outputs.floats(name).slice()] as const);
    await session.close();
    return new Map(found);
  };
  const [whole, tiled] = [await run(false), await run(true)];
  for (const [name, numbers] of tiled)
    expect(relativeError(numbers, whole.get(name)!), name).toBeLessThan(1e-4);
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
