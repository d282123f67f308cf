import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import type { Experienced } from "../../../../src/engine/learning/token-rewards.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { gradientName, trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gather } from "../../../../src/engine/onnx/indexing.ts";
import { linear } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { tokenDistribution } from "../../../../src/engine/onnx/token-distribution.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { noise } from "../onnx/finite-differences.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config, settings, trajectories, state, reference } = await ppoFixture();

async function stateAfter(step: Experienced[]) {
  const trainer = createTrainer({ config, state: copyTrainerState(state), reference, settings, seed: 1 });
  await trainer.policyGradientStep(step);
  await trainer.close();
  return trainer.state;
}

test("what was recorded at observation tokens, or came after the last action, changes not one bit", async () => {
  const expected = await stateAfter(trajectories);
  const disturbed = trajectories.map((trajectory) => ({
    ...trajectory,
    tokens: [...trajectory.tokens, 7, 7],
    mask: [...trajectory.mask, 0, 0],
    logprobs: [...trajectory.logprobs.map((value, at) => (trajectory.mask[at] ? value : -5)), Number.NaN, 3],
  }));
  expect(await stateAfter(disturbed)).toEqual(expected);
});

test("rows that predict observation tokens get a gradient of exactly zero", async () => {
  const graph = createGraph();
  const hidden = graph.input("hidden", "float32", [6, 4]);
  const rows = graph.ints([1, 4]);
  const logits = linear(gather(hidden, rows), graph.floats(noise(20), [5, 4]));
  const { logProbabilities, entropies } = tokenDistribution(logits, graph.ints([3, 0]));
  const [gradient] = gradients(reduceSum(logProbabilities), [hidden]);
  const [ofEntropy] = gradients(reduceSum(entropies), [hidden]);
  graph.output("gradient", gradient!);
  graph.output("ofEntropy", ofEntropy!);
  const session = await createModelSession(modelBytes(graph));
  const outputs = await session.run({ hidden: { shape: [6, 4], data: noise(24, 2) } });
  for (const name of ["gradient", "ofEntropy"]) {
    const numbers = outputs.floats(name);
    const touched = [0, 1, 2, 3, 4, 5].filter((row) =>
      numbers.slice(row * 4, row * 4 + 4).some((x) => x !== 0),
    );
    expect(touched).toEqual([1, 4]);
  }
  await session.close();
});

test("a batch's gradient is the sum of its sequences' own: padding has no part in it", async () => {
  const session = await createModelSession(trainingModel({ config }, supervisedObjective).bytes);
  const gradientOf = async (sequences: Experienced[]) => {
    const batch = batchSequences(sequences, config);
    const actions = batch.actions.length;
    const weights = { shape: [actions], data: new Float32Array(actions).fill(1) };
    const outputs = await session.run({
      ...Object.fromEntries(state.weights),
      ...batchFeeds(batch),
      weights,
    });
    return outputs.floats(gradientName("model.layers.0.self_attn.k_proj.weight"));
  };
  const together = await gradientOf(trajectories);
  const sum = new Float32Array(together.length);
  for (const trajectory of trajectories) {
    const alone = await gradientOf([trajectory]);
    alone.forEach((slope, at) => {
      sum[at]! += slope;
    });
  }
  expect(relativeError(together, sum)).toBeLessThan(1e-5);
  await session.close();
});
