import { afterAll, beforeAll, expect, test } from "vitest";
import { useSwiftShader } from "../../../src/devices/swiftshader.ts";
import { freshCritic } from "../../../src/learning/critic.ts";
import { createTrainer } from "../../../src/learning/trainer.ts";
import { parametersOf } from "../../../src/learning/trainer-state.ts";
import type { TrainingSettings } from "../../../src/learning/training-settings.ts";
import { createSession } from "../../../src/onnx/create-session.ts";
import { add } from "../../../src/onnx/elementwise.ts";
import { createGraph } from "../../../src/onnx/graph.ts";
import { modelBytes } from "../../../src/onnx/model-bytes.ts";
import type { Session } from "../../../src/onnx/session.ts";
import { copyTrainerState } from "../../support/copy-trainer-state.ts";
import { expectTensors, ppoFixture } from "../learning/ppo-fixture.ts";
import { torchFixture } from "../torch-fixtures.ts";

let kept: Session;
beforeAll(async () => {
  await useSwiftShader();
  const graph = createGraph();
  graph.output("sum", add(graph.input("number", "float32", [1]), 1));
  // With the last session all shaders go, which are compiled in software.
  kept = await createSession(modelBytes(graph), { device: "webgpu" });
});
afterAll(() => kept?.close());

test("a step on WebGPU leaves a critic of its own where PyTorch's ends", async () => {
  const fixture = await ppoFixture();
  const { config, trajectories, reference } = fixture;
  const { json, tensors } = await torchFixture("critic");
  const settings: TrainingSettings = {
    ...fixture.settings,
    ...{ critic: "model", valueLearningRate: Number(json.valueLearningRate) },
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
