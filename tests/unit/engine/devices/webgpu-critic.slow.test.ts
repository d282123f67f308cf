import { expect, test } from "vitest";
import { freshCritic } from "../../../../src/engine/learning/critic.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { keepSwiftShader } from "../../../support/kept-swiftshader.ts";
import { torchFixture } from "../../torch-fixtures.ts";
import { expectTensors, ppoFixture } from "../learning/ppo-fixture.ts";

keepSwiftShader();

test("a step on WebGPU leaves a critic of its own where PyTorch's ends", async () => {
  const fixture = await ppoFixture();
  const { config, trajectories, reference } = fixture;
  const { json, tensors } = await torchFixture("critic");
  const settings: TrainingSettings = {
    ...fixture.settings,
    critic: "model",
    valueLearningRate: Number(json.valueLearningRate),
  };
  const critic = copyTrainerState({
    ...freshCritic({ config }, fixture.state),
    valueHead: fixture.state.valueHead,
  });
  const state = { ...copyTrainerState(fixture.state), critic };
  const trainer = createTrainer({ config, reference, settings, seed: 1, state, device: "webgpu" });
  const metrics = await trainer.policyGradientStep(trajectories);
  expect(metrics.valueLoss).toBeGreaterThan(0);
  await trainer.settle();
  const ended = new Map([...parametersOf(trainer.state.critic!)].map(([name, { data }]) => [name, data]));
  expectTensors(ended, { ...fixture, tensors }, "after.");
  await trainer.close();
});
