import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../../src/engine/learning/batch.ts";
import { freshCritic } from "../../../../src/engine/learning/critic.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import {
  freshTrainerState,
  parametersOf,
  type TrainerState,
} from "../../../../src/engine/learning/trainer-state.ts";
import { gradientName, trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { valueObjective } from "../../../../src/engine/learning/value-objective.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { torchFixture, withPrefix } from "../../torch-fixtures.ts";
import { expectTensors, ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, trajectories, reference } = fixture;
const { json, tensors } = await torchFixture("critic");
const torch = { ...fixture, tensors };
const updates = json.updates as { valueLoss: number; gradientNorm: number }[];
const settings: TrainingSettings = {
  ...fixture.settings,
  critic: "model",
  valueLearningRate: Number(json.valueLearningRate),
};

/** A critic as the fixture's begins: the policy, with a value head. */
function critic(): TrainerState {
  return copyTrainerState({
    ...freshCritic({ config }, fixture.state),
    valueHead: fixture.state.valueHead,
  });
}

const dataOf = (given: ReadonlyMap<string, Tensor>) =>
  new Map([...given].map(([name, { data }]) => [name, data]));

test("the loss of a critic of its own and every gradient are PyTorch's; the language-model head is no part of it", async () => {
  const batch = batchSequences(trajectories, config);
  const model = trainingModel({ config, critic: true }, valueObjective(settings.valueClip));
  const actions = batch.actions.length;
  const then = withPrefix(fixture.tensors, "then.");
  const parameters = parametersOf(critic());
  expect(model.trains).not.toContain("lm_head.weight");
  const session = await createModelSession(model.bytes);
  const outputs = await session.run({
    ...Object.fromEntries(model.reads.map((name) => [name, parameters.get(name)!])),
    ...batchFeeds(batch),
    weights: { shape: [actions], data: new Float32Array(actions).fill(1 / actions) },
    oldValues: then.get("oldValues")!,
    returns: then.get("returns")!,
  });
  expect(outputs.floats("loss")[0]).toBeCloseTo(updates[0]!.valueLoss, 5);
  const gradients = new Map(model.trains.map((name) => [name, outputs.floats(gradientName(name))]));
  expectTensors(gradients, torch, "gradient.");
  await session.close();
});

test("a whole step leaves the critic where PyTorch's ends, at its own learning rate, and the policy without values", async () => {
  const state = { ...copyTrainerState(fixture.state), critic: critic() };
  const trainer = createTrainer({ config, reference, settings, seed: 1, state });
  const metrics = await trainer.policyGradientStep(trajectories);
  expectTensors(dataOf(parametersOf(trainer.state.critic!)), torch, "after.");
  const mean = (name: "valueLoss" | "gradientNorm") =>
    updates.reduce((sum, update) => sum + update[name], 0) / updates.length;
  expect(metrics.valueLoss).toBeCloseTo(mean("valueLoss"), 4);
  expect(metrics.valueGradientNorm).toBeCloseTo(mean("gradientNorm"), 3);
  expect(trainer.state.valueHead).toEqual(fixture.state.valueHead);
  await trainer.close();

  // The values are those of the fixture's policy: its updates are those of a policy whose value loss counts nothing.
  const plain: TrainingSettings = { ...fixture.settings, valueCoefficient: 0 };
  const other = createTrainer({
    config,
    reference,
    settings: plain,
    seed: 1,
    state: copyTrainerState(fixture.state),
  });
  const { policyLoss } = await other.policyGradientStep(trajectories);
  expect(metrics.policyLoss).toBeCloseTo(policyLoss, 6);
  await other.close();
});

test("under LoRA a critic has an adapter of its own over the same weights; supervised steps make none", async () => {
  const lora = { rank: 2, alpha: 4, targets: ["q_proj", "down_proj"] };
  const state = freshTrainerState({ config, lora }, fixture.state.weights, 1);
  const trainer = createTrainer({ config, lora, settings, seed: 1, state });
  await trainer.supervisedStep(trajectories, 1e-3);
  expect(trainer.state.critic).toBeUndefined();
  const before = new Map([...trainer.state.adapter].map(([name, { data }]) => [name, data.slice()]));
  await trainer.policyGradientStep(trajectories);
  const { weights, adapter, valueHead } = trainer.state.critic!;
  for (const [name, tensor] of weights) expect(tensor).toBe(state.weights.get(name));
  expect(weights.has("lm_head.weight")).toBe(false);
  expect([...adapter.keys()]).toEqual([...before.keys()]);
  for (const name of before.keys()) expect(adapter.get(name)).not.toBe(trainer.state.adapter.get(name));
  expect(valueHead.get("value_head.bias")!.data[0]).not.toBe(0);
  await trainer.close();
});

test("a critic whose weights don't fit is not made", async () => {
  const copied = [...critic().weights.values()].reduce((total, { data }) => total + data.byteLength, 0);
  const made = async (available: number) => {
    const state = copyTrainerState(fixture.state);
    const trainer = createTrainer({
      config,
      reference,
      settings,
      seed: 1,
      state,
      available: () => available,
    });
    // An update needs more than that.
    await expect(trainer.policyGradientStep(trajectories)).rejects.toMatchObject({
      code: "TRAINING_MEMORY_SHORT",
    });
    await trainer.close();
    return trainer.state.critic !== undefined;
  };
  expect(await made(copied - 1)).toBe(false);
  expect(await made(copied)).toBe(true);
});

test("a step later there is no critic left where the settings want none", async () => {
  const state = { ...copyTrainerState(fixture.state), critic: critic() };
  const trainer = createTrainer({ config, reference, settings: fixture.settings, seed: 1, state });
  expect(trainer.state).not.toHaveProperty("critic");
  await trainer.close();
});
