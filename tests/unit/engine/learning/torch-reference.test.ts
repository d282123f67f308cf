import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { type Objective, objectiveInputShapes } from "../../../../src/engine/learning/objective.ts";
import { policyObjective } from "../../../../src/engine/learning/policy-objective.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import { gradientName, trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { objectiveSettings } from "../../../../src/engine/learning/training-settings.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import type { Tensor } from "../../../../src/engine/onnx/model-session.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { withPrefix } from "../../torch-fixtures.ts";
import { expectTensors, ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, settings, trajectories, state, reference, updates } = fixture;
const batch = batchSequences(trajectories, config);
const actions = batch.actions.length;

/** The model's outputs for the fixture's weights and batch; `known` feeds the objective beside equal weights of tokens. */
async function outputsOf(objective: Objective, known: Record<string, Tensor>) {
  const model = trainingModel({ config }, objective);
  const equal = { shape: [actions], data: new Float32Array(actions).fill(1 / actions) };
  const inputs: Record<string, Tensor> = { weights: equal, policyWeights: equal, shares: equal, ...known };
  const parameters = parametersOf(state);
  const session = await createModelSession(model.bytes);
  const outputs = await session.run({
    ...Object.fromEntries(model.reads.map((name) => [name, parameters.get(name)!])),
    ...batchFeeds(batch),
    ...Object.fromEntries(Object.keys(objective.inputs).map((name) => [name, inputs[name]!])),
  });
  const gradients = new Map(model.trains.map((name) => [name, outputs.floats(gradientName(name))]));
  await session.close();
  return { outputs, gradients };
}

test("PPO's loss terms and every gradient are PyTorch's", async () => {
  const objective = policyObjective(objectiveSettings(settings));
  const { outputs, gradients } = await outputsOf(objective, {
    ...Object.fromEntries(withPrefix(fixture.tensors, "then.")),
    klCoefficient: {
      shape: objectiveInputShapes.scalar.map(Number),
      data: Float32Array.of(settings.klCoefficient),
    },
  });
  const { gradientNorm: _, ...terms } = updates[0]!;
  for (const [name, value] of Object.entries(terms)) {
    expect(Math.abs(outputs.floats(name)[0]! / value - 1), name).toBeLessThan(1e-4);
  }
  expectTensors(gradients, fixture, "gradient.");
});

test("the supervised loss and its gradients are PyTorch's", async () => {
  const { outputs, gradients } = await outputsOf(supervisedObjective, {});
  expect(outputs.floats("loss")[0]).toBeCloseTo(fixture.supervisedLoss, 4);
  expectTensors(gradients, fixture, "supervised.");
});

test("a whole step, from recorded log-probabilities to three updates by AdamW, ends where PyTorch ends", async () => {
  const trainer = createTrainer({ config, state: copyTrainerState(state), reference, settings, seed: 1 });
  const metrics = await trainer.policyGradientStep(trajectories);
  expectTensors(
    new Map([...parametersOf(trainer.state)].map(([name, { data }]) => [name, data])),
    fixture,
    "after.",
  );
  const mean = (name: string) => updates.reduce((sum, terms) => sum + terms[name]!, 0) / updates.length;
  for (const name of ["policyLoss", "valueLoss", "kl", "approximateKl", "entropy", "gradientNorm"] as const) {
    expect(Math.abs(metrics[name]! / mean(name) - 1), name).toBeLessThan(1e-4);
  }
  expect(metrics.clipFraction).toBeCloseTo(mean("clipFraction"), 6);
  expect(metrics.tokens).toBe(trajectories.flatMap(({ mask }) => mask).filter(Boolean).length);
  await trainer.close();
});
