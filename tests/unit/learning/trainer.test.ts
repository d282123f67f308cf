import { expect, test } from "vitest";
import type { ScoredTrajectory } from "../../../src/learning/experience.ts";
import type { PpoHyperparameters } from "../../../src/learning/ppo-step.ts";
import { createTrainer } from "../../../src/learning/trainer.ts";
import { freshTrainerState, type TrainerState } from "../../../src/learning/trainer-state.ts";
import { modelConfig } from "../../../src/models/model-config.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, trajectories, reference } = fixture;
const hyperparameters: PpoHyperparameters = { ...fixture.hyperparameters, epochs: 2, minibatchSize: 2 };

function open(changes: { state?: TrainerState; seed?: number; hyperparameters?: PpoHyperparameters } = {}) {
  return createTrainer({ config, reference, hyperparameters, state: fixture.state, seed: 1, ...changes });
}

test("the same seed gives the same weights bit by bit, another seed others", async () => {
  const states = [];
  for (const seed of [1, 1, 2]) {
    const trainer = open({ seed });
    await trainer.ppoStep(trajectories);
    states.push(trainer.state());
    await trainer.close();
  }
  expect(states[0]).toEqual(states[1]);
  expect(states[0]!.weights).not.toEqual(states[2]!.weights);
  expect(states[0]).toMatchObject({ updates: 6, policyGradientSteps: 1 });
});

test("a trainer restored from its state goes on as if it had never stopped", async () => {
  const first = open();
  await first.supervisedStep(trajectories, 1e-3);
  await first.ppoStep(trajectories);
  const second = open({ state: first.state() });
  expect(await second.ppoStep(trajectories)).toEqual(await first.ppoStep(trajectories));
  expect(second.state()).toEqual(first.state());
  await first.close();
  await second.close();
});

test("a step that diverges half-way throws and changes nothing", async () => {
  const trainer = open({ hyperparameters: { ...hyperparameters, learningRate: 1e30 } });
  await expect(trainer.ppoStep(trajectories)).rejects.toMatchObject({ code: "TRAINING_NOT_FINITE" });
  expect(trainer.state()).toEqual(fixture.state);
  await trainer.close();
});

test("a supervised step on weights that are not finite throws and changes nothing", async () => {
  const weights = new Map(fixture.state.weights);
  weights.set("model.norm.weight", {
    shape: [16],
    data: new Float32Array(16).fill(Number.POSITIVE_INFINITY),
  });
  const state = { ...fixture.state, weights };
  const trainer = open({ state });
  await expect(trainer.supervisedStep(trajectories, 1e-3)).rejects.toThrow("Training stopped at update 1");
  expect(trainer.state()).toEqual(state);
  await trainer.close();
});

test("trajectories that can't be trained on are refused; those without an action are passed over", async () => {
  const trainer = open();
  const [first] = trajectories;
  const refused = async (change: Partial<ScoredTrajectory>, message: string) =>
    expect(trainer.ppoStep([{ ...first!, ...change }])).rejects.toThrow(message);
  await refused({ logprobs: [0] }, "trajectory 0 has 12 tokens, but 1 log-probabilities");
  await refused({ reward: Number.NaN }, "trajectory 0 has the reward NaN");
  await refused({ logprobs: first!.tokens.map(() => 0.5) }, "the log-probability 0.5 at token 3");
  await refused({ mask: first!.tokens.map(() => 0) }, "none of its tokens carries loss");
  const silent = { ...first!, mask: first!.tokens.map(() => 0) };
  const alone = open();
  expect(await trainer.ppoStep([...trajectories, silent])).toEqual(await alone.ppoStep(trajectories));
  await trainer.close();
  await alone.close();
});

test("recorded log-probabilities of the same weights agree, and the gap tells of others", async () => {
  const trainer = open();
  expect((await trainer.ppoStep(trajectories)).logprobGap).toBeGreaterThan(0.1);
  await trainer.close();
});

const tiny = modelConfig({
  vocab_size: 12,
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 48,
  max_position_embeddings: 16,
});

test("supervised steps learn to copy a token over a distance", async () => {
  const state = freshTrainerState(tiny, randomModelWeights(tiny, 1));
  const trainer = createTrainer({ config: tiny, state, hyperparameters, seed: 1 });
  const sequences = Array.from({ length: 10 }, (_, at) => ({ tokens: [at, 10, 11, at], mask: [0, 0, 0, 1] }));
  const losses = [];
  for (let step = 0; step < 150; step++) losses.push((await trainer.supervisedStep(sequences, 1e-2)).loss);
  expect(losses[0]).toBeGreaterThan(2);
  expect(losses.at(-1)).toBeLessThan(0.05);
  await trainer.close();
});

test("policy-gradient steps make rewarded actions likelier and teach the value head", async () => {
  const settings = { ...hyperparameters, epochs: 1, minibatchSize: 12, learningRate: 3e-3, klCoefficient: 0 };
  const state = freshTrainerState(tiny, randomModelWeights(tiny, 1));
  const trainer = createTrainer({ config: tiny, state, hyperparameters: settings, seed: 1 });
  // Every token once; only token 3 pays. Recorded as uniform, which the fresh policy nearly is.
  const step = Array.from({ length: 12 }, (_, token) => ({
    tokens: [5, token],
    mask: [0, 1],
    logprobs: [0, -Math.log(12)],
    reward: token === 3 ? 1 : 0,
  }));
  // A learning rate of zero makes a supervised step a measurement.
  const surprise = async () => (await trainer.supervisedStep([{ tokens: [5, 3], mask: [0, 1] }], 0)).loss;
  const before = await surprise();
  const losses = [];
  for (let count = 0; count < 30; count++) losses.push((await trainer.ppoStep(step)).valueLoss);
  expect(await surprise()).toBeLessThan(before - 0.5);
  expect(losses.at(-1)).toBeLessThan(losses[0]!);
  await trainer.close();
});
