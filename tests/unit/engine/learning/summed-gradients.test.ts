import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { objectiveFeeds } from "../../../../src/engine/learning/objective.ts";
import { passSizes } from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState, parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import {
  gradientName,
  summedOutputs,
  sumName,
  trainingModel,
} from "../../../../src/engine/learning/training-graphs.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { elementCount } from "../../../../src/engine/onnx/element-count.ts";
import { createLendingSession } from "../../../../src/engine/onnx/lending-session.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";

const configOf = (vocabulary: number, isTied: boolean) =>
  modelConfig({
    vocab_size: vocabulary,
    hidden_size: 16,
    num_hidden_layers: 3,
    intermediate_size: 32,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 64,
    tie_word_embeddings: isTied,
  });
const sequences = Array.from({ length: 3 }, (_, at) => ({
  tokens: Array.from({ length: 20 }, (_token, place) => 10 * at + place),
  mask: Array.from({ length: 20 }, (_token, place) => (place > 12 ? 1 : 0)),
}));
const actions = 3 * 7;

test.each([
  ["a head that is the embedding", configOf(300, true), {}],
  ["a head of its own", configOf(300, false), {}],
  ["a head in parts that is the embedding", configOf(70_000, true), {}],
  ["a head in parts of its own", configOf(70_000, false), {}],
  ["layers computed again", configOf(300, true), { recompute: true }],
])("gradients are added to what lies where they are written: %s", async (_, config, how) => {
  const runtime = (await runtimeFunctions())!;
  const weights = randomModelWeights(config, 1);
  const parameters = parametersOf(freshTrainerState({ config }, weights));
  const samples = sequences.map((sequence) => ({
    sequences: [sequence],
    columns: { weights: new Float32Array(7).fill(1 / actions) },
  }));
  const feeds = {
    ...batchFeeds(batchSequences(sequences, config)),
    ...objectiveFeeds(supervisedObjective, samples, {}),
  };
  const sums = new Map(
    Array.from(weights, ([name, { shape, data }]) => {
      const numbers = Float32Array.from({ length: data.length }, (_number, at) => Math.sin(at + 1));
      return [name, { shape, data: numbers }];
    }),
  );
  const outputsOf = async (adds: boolean) => {
    const model = trainingModel({ config, ...how, adds }, supervisedObjective);
    const session = await createLendingSession(runtime, model.graph, model.bytes, { threads: 2 });
    const read = Object.fromEntries(model.reads.map((name) => [name, parameters.get(name)!]));
    const added = adds ? Object.fromEntries(Array.from(sums, ([name, sum]) => [sumName(name), sum])) : {};
    const into = new Map(Array.from(sums, ([name, { data }]) => [gradientName(name), data]));
    const outputs = await session.run({ ...read, ...feeds, ...added }, adds ? into : undefined);
    const found = new Map(
      model.trains.map((name) => [name, Float32Array.from(outputs.floats(gradientName(name)))]),
    );
    const rows = model.rows.map(({ output }) => Float32Array.from(outputs.floats(output)));
    outputs.release();
    await session.close();
    return { found, rows };
  };
  const alone = await outputsOf(false);
  const before = new Map(Array.from(sums, ([name, { data }]) => [name, Float32Array.from(data)]));
  const added = await outputsOf(true);
  expect(added.rows).toEqual(alone.rows);
  for (const [name, gradient] of alone.found) {
    const expected = gradient.map((number, at) => number + before.get(name)![at]!);
    expect(Buffer.compare(bytesOf(added.found.get(name)!), bytesOf(expected)), name).toBe(0);
    expect(gradient.some((number) => number !== 0)).toBe(true);
  }
});

test("a gradient is added as soon as it is complete, so that none is held beside its sum", () => {
  const config = { ...configOf(300, true), hidden_size: 64, intermediate_size: 256, num_hidden_layers: 24 };
  const sizes = passSizes([[{ tokens: [1, 2, 3, 4], mask: [0, 0, 1, 1] }]]);
  const held = (adds: boolean) => {
    const { graph, trains } = trainingModel({ config, adds }, supervisedObjective);
    const sums = summedOutputs(graph);
    expect(sums.size).toBe(adds ? trains.length : 0);
    return peakBytes(graph, sizes, (value) => !sums.has(value));
  };
  const weights = [...modelWeightShapes(config).values()];
  const bytes = 4 * weights.reduce((sum, of) => sum + elementCount(of), 0);
  expect(held(false)).toBeGreaterThan(bytes);
  expect(held(true)).toBeLessThan(bytes / 6);
});

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
