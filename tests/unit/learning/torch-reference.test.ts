import { expect, test } from "vitest";
import { batchFeeds, batchSequences } from "../../../src/learning/batch.ts";
import { createTrainer } from "../../../src/learning/trainer.ts";
import { parametersOf } from "../../../src/learning/trainer-state.ts";
import { gradientName, ppoModel, supervisedModel } from "../../../src/learning/training-graphs.ts";
import { createSession } from "../../../src/onnx/session.ts";
import { withPrefix } from "../torch-fixtures.ts";
import { expectTensors, ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, hyperparameters, trajectories, state, reference, updates } = fixture;
const feeds = {
  ...Object.fromEntries(parametersOf(state)),
  ...batchFeeds(batchSequences(trajectories, config)),
};

test("PPO's loss terms and every gradient are PyTorch's", async () => {
  const session = await createSession(ppoModel(config, hyperparameters));
  const { raw: _, ...targets } = Object.fromEntries(withPrefix(fixture.tensors, "then."));
  const outputs = await session.run({ ...feeds, ...targets });
  const { gradientNorm: __, ...terms } = updates[0]!;
  for (const [name, value] of Object.entries(terms)) {
    expect(Math.abs(outputs.floats(name)[0]! / value - 1), name).toBeLessThan(1e-4);
  }
  const names = [...parametersOf(state).keys()];
  const gradients = new Map(names.map((name) => [name, outputs.floats(gradientName(name))]));
  expectTensors(gradients, fixture, "gradient.");
  await session.close();
});

test("the supervised loss and its gradients are PyTorch's", async () => {
  const session = await createSession(supervisedModel(config));
  const outputs = await session.run(feeds);
  expect(outputs.floats("loss")[0]).toBeCloseTo(fixture.supervisedLoss, 4);
  const names = [...state.weights.keys()];
  const gradients = new Map(names.map((name) => [name, outputs.floats(gradientName(name))]));
  expectTensors(gradients, fixture, "supervised.");
  await session.close();
});

test("a whole step, from recorded log-probabilities to three updates by AdamW, ends where PyTorch ends", async () => {
  const trainer = createTrainer({ config, state, reference, hyperparameters, seed: 1 });
  const metrics = await trainer.ppoStep(trajectories);
  expectTensors(
    new Map([...parametersOf(trainer.state())].map(([name, { data }]) => [name, data])),
    fixture,
    "after.",
  );
  const mean = (name: string) => updates.reduce((sum, terms) => sum + terms[name]!, 0) / updates.length;
  for (const name of ["policyLoss", "valueLoss", "kl", "approximateKl", "entropy", "gradientNorm"] as const) {
    expect(Math.abs(metrics[name] / mean(name) - 1), name).toBeLessThan(1e-4);
  }
  expect(metrics.clipFraction).toBeCloseTo(mean("clipFraction"), 6);
  expect(metrics.tokens).toBe(trajectories.flatMap(({ mask }) => mask).filter(Boolean).length);
  await trainer.close();
});
