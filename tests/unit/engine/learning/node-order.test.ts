import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { objectiveFeeds } from "../../../../src/engine/learning/objective.ts";
import { passSizes } from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState, parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import {
  summedOutputs,
  sumName,
  type TrainedModel,
  trainingModel,
} from "../../../../src/engine/learning/training-graphs.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import type { GraphBody } from "../../../../src/engine/onnx/graph.ts";
import { neededNodes } from "../../../../src/engine/onnx/needed-nodes.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { profilePass } from "../../../../src/engine/onnx/profile-pass.ts";

const shape = (vocabulary: number, layers: number) =>
  modelConfig({
    vocab_size: vocabulary,
    hidden_size: 32,
    num_hidden_layers: layers,
    intermediate_size: 96,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 64,
    tie_word_embeddings: true,
  });
const config = shape(20_000, 8);
const lora = { rank: 2, alpha: 4, targets: ["q_proj", "o_proj", "up_proj", "down_proj"] };
const sequences = Array.from({ length: 4 }, (_, at) => ({
  tokens: Array.from({ length: 48 }, (_token, place) => 100 * at + place),
  mask: Array.from({ length: 48 }, (_token, place) => (place > 42 ? 1 : 0)),
}));
const actions = 4 * 5;

// Nodes could also be taken in orders that hold every layer's tensors, or the logits of every part, at once.
test.each<[string, TrainedModel]>([
  ["an adapter", { config, lora }],
  ["an adapter, layers computed again", { config, lora, recompute: true }],
  ["all weights, layers computed again", { config, recompute: true }],
  ["all weights, logits in parts", { config: shape(70_000, 24) }],
  ["all weights, added to sums", { config: shape(20_000, 24), adds: true }],
])("the runtime holds at once what the plan says: %s", async (_, trained) => {
  const { graph, bytes, reads } = trainingModel(trained, supervisedObjective);
  const parameters = parametersOf(freshTrainerState(trained, randomModelWeights(trained.config, 1)));
  const samples = sequences.map((sequence) => ({
    sequences: [sequence],
    columns: { weights: new Float32Array(5).fill(1 / actions) },
  }));
  const batch = batchSequences(sequences, trained.config);
  const { nodes: ran } = await profilePass(
    bytes,
    {
      ...Object.fromEntries(reads.map((name) => [name, parameters.get(name)!])),
      ...(trained.adds && Object.fromEntries(reads.map((name) => [sumName(name), parameters.get(name)!]))),
      ...batchFeeds(batch),
      ...objectiveFeeds(supervisedObjective, samples, {}),
    },
    "cpu",
  );
  const places = new Map(ran.map(({ name }, at) => [name, at]));
  // What was fused with something is left where it was written: after what came before it.
  let place = -1;
  const nodes = neededNodes(graph)
    .map((node) => {
      place = places.get(node.outputs[0]!.name) ?? place;
      return { node, place };
    })
    .sort((one, other) => one.place - other.place)
    .map(({ node }) => node);
  const sizes = passSizes(sequences.map((one) => [one]));
  const sums = summedOutputs(graph);
  const held = (body: GraphBody) => peakBytes(body, sizes, (one) => !sums.has(one));
  const ratio = held({ ...graph, nodes }) / held(graph);
  expect(ratio).toBeLessThan(1.15);
  expect(ratio).toBeGreaterThan(0.85);
});
