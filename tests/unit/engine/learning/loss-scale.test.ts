import { expect, test } from "vitest";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { firstLossScale, nextLossScale } from "../../../../src/engine/learning/loss-scale.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import type { TrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const settings = {
  ...fixture.settings,
  ...algorithmPresets["dr-grpo"],
  lengthConstant: 1,
  epochs: 1,
  minibatchSize: 3,
};

/** Rewards so large that the gradients of the loss times 1,024 overflow in float16, and those of the loss itself don't. */
const trajectories = fixture.trajectories.map((trajectory, index) => ({
  ...trajectory,
  group: `task ${index % 2}`,
  reward: trajectory.reward * 3000,
}));

function open(state: TrainerState, precision: "float16" | "float32" = "float16") {
  const { config, reference } = fixture;
  return createTrainer({
    config,
    reference,
    settings,
    precision,
    seed: 1,
    state: copyTrainerState(state),
  });
}

test("the scale is halved at an overflow, and doubled after 2,000 updates without one", () => {
  let scale = nextLossScale(firstLossScale, false);
  expect(scale).toEqual({ scale: 512, steady: 0, skipped: 1 });
  for (let update = 0; update < 1999; update++) scale = nextLossScale(scale, true);
  expect(scale).toEqual({ scale: 512, steady: 1999, skipped: 1 });
  expect(nextLossScale(scale, false)).toEqual({ scale: 256, steady: 0, skipped: 2 });
  expect(nextLossScale(scale, true)).toEqual({ scale: 1024, steady: 0, skipped: 1 });
});

test("float16 skips the updates that overflow, counts them, and goes on with a smaller scale", async () => {
  const trainer = open(fixture.state);
  const first = await trainer.policyGradientStep(trajectories);
  expect(first).toMatchObject({ skippedUpdates: 2, lossScale: 512, gradientNorm: 0, policyLoss: 0 });
  expect(trainer.state, "nothing else changed").toEqual({
    ...fixture.state,
    policyGradientSteps: 1,
    lossScale: { scale: 256, steady: 0, skipped: 2 },
  });
  let last = first;
  for (let step = 0; step < 8 && last.skippedUpdates! > 0; step++) {
    last = await trainer.policyGradientStep(trajectories);
  }
  expect(last.skippedUpdates).toBe(0);
  const { updates, lossScale } = trainer.state;
  expect(updates).toBeGreaterThan(0);
  expect(lossScale!.scale).toBeLessThan(256);

  const exact = open(trainer.state, "float32");
  const expected = await exact.policyGradientStep(trajectories);
  expect(expected).not.toHaveProperty("skippedUpdates");
  const half = await trainer.policyGradientStep(trajectories);
  expect(half.gradientNorm / expected.gradientNorm).toBeCloseTo(1, 1);
  expect(exact.state).not.toHaveProperty("lossScale");
  await exact.close();
  await trainer.close();
});

test("where no scale is left that could be halved, the step stops", async () => {
  const trainer = open({ ...fixture.state, lossScale: { scale: 1, steady: 0, skipped: 10 } });
  const enormous = trajectories.map((one) => ({ ...one, reward: one.reward * 1e6 }));
  await expect(trainer.policyGradientStep(enormous)).rejects.toMatchObject({ code: "TRAINING_NOT_FINITE" });
  expect(trainer.state).toMatchObject({ updates: 0, lossScale: { scale: 1, skipped: 10 } });
  await trainer.close();
});

test("restored from its state it goes on as if it had never stopped", async () => {
  const first = open(fixture.state);
  await first.policyGradientStep(trajectories);
  const second = open(first.state);
  expect(await second.policyGradientStep(trajectories)).toEqual(await first.policyGradientStep(trajectories));
  expect(second.state).toEqual(first.state);
  await first.close();
  await second.close();
});
