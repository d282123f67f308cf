import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { algorithmPresets, algorithms } from "../../../../src/engine/learning/algorithm.ts";
import type { StepPlan } from "../../../../src/engine/learning/step-plan.ts";
import type { Experienced } from "../../../../src/engine/learning/token-rewards.ts";
import { createTrainer, type TrainerOptions } from "../../../../src/engine/learning/trainer.ts";
import { freshTrainerState, parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import type { LazyTensor, Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, trajectories, reference } = fixture;
const failures = join(temporaryFolder(), "failures");
const settings: TrainingSettings = { ...fixture.settings, epochs: 2, minibatchSize: 2 };

function open(changes: Partial<TrainerOptions> = {}) {
  const state = copyTrainerState(changes.state ?? fixture.state);
  return createTrainer({ config, reference, settings, seed: 1, ...changes, state });
}

test("the same seed gives the same weights bit by bit, another seed others", async () => {
  const states = [];
  for (const seed of [1, 1, 2]) {
    const trainer = open({ seed });
    await trainer.policyGradientStep(trajectories);
    states.push(trainer.state);
    await trainer.close();
  }
  expect(states[0]).toEqual(states[1]);
  expect(states[0]!.weights).not.toEqual(states[2]!.weights);
  expect(states[0]).toMatchObject({ updates: 6, policyGradientSteps: 1 });
});

test("a step says what it is at: its scores, and each of its updates", async () => {
  const said: string[] = [];
  const trainer = open({ maxTokensPerRun: 1 });
  await trainer.policyGradientStep(trajectories, { onProgress: (text) => said.push(text) });
  await trainer.close();
  const shares = (what: string, ...all: number[]) => all.map((share) => `${what}, ${share} % done`);
  const scores = ["policy", "reference"].flatMap((by) =>
    shares(`scores by the ${by}`, 0, 17, 33, 50, 67, 83, 100),
  );
  const updates = [1, 2, 3, 4, 5, 6].flatMap((number) => shares(`update ${number} of 6`, 0, 50, 100));
  expect(said).toEqual([...scores, ...updates]);
});

/** The reference, whose weights are added to `read` as they are. */
const inFiles = (read: Tensor[]) => async () => {
  const lazy = ([name, tensor]: [string, Tensor]): [string, LazyTensor] => {
    const load = async () => {
      const copy = { ...tensor, data: tensor.data.slice() };
      read.push(copy);
      return copy;
    };
    return [name, { shape: tensor.shape, load }];
  };
  return new Map([...(await reference())].map(lazy));
};

test("a reference in files is read for its scores, and is not in memory after them", async () => {
  const read: Tensor[] = [];
  const [held, lent] = [open(), open({ reference: inFiles(read) })];
  for (const step of [1, 2]) {
    const metrics = await lent.policyGradientStep(trajectories);
    expect(metrics).toEqual(await held.policyGradientStep(trajectories));
    expect(metrics.kl).toBeGreaterThan(0);
    expect(read).toHaveLength(step * (await reference()).size);
    expect(read.every(({ data }) => data.length === 0)).toBe(true);
  }
  expect(lent.state).toEqual(held.state);
  await held.close();
  await lent.close();
});

test("a reference in files whose weights don't fit is refused before one is read", async () => {
  const read: Tensor[] = [];
  const weights = [...(await reference()).values()];
  const bytes = weights.reduce((total, { data }) => total + data.byteLength, 0);
  const within = async (available: number) => {
    const trainer = open({ reference: inFiles(read), available: () => available });
    const scores = await trainer.score(trajectories, "reference").finally(() => trainer.close());
    return scores.length;
  };
  await expect(within(bytes - 1)).rejects.toMatchObject({ code: "TRAINING_MEMORY_SHORT" });
  expect(read).toEqual([]);
  expect(await within(bytes)).toBe(trajectories.length);
  expect(read).toHaveLength(weights.length);
});

test("a trainer restored from its state goes on as if it had never stopped", async () => {
  const first = open();
  await first.supervisedStep(trajectories, 1e-3);
  await first.policyGradientStep(trajectories);
  const second = open({ state: first.state });
  expect(await second.policyGradientStep(trajectories)).toEqual(await first.policyGradientStep(trajectories));
  expect(second.state).toEqual(first.state);
  await first.close();
  await second.close();
});

test("a step that diverges throws, and saves the batch, which diverges again", async () => {
  const diverging = { ...settings, learningRate: 1e30 };
  const trainer = open({ settings: diverging, failures });
  const error = await trainer.policyGradientStep(trajectories).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: "TRAINING_DIVERGED" });
  await trainer.close();

  const file = join(failures, "policy-gradient-1.json");
  expect(String(error)).toContain(file);
  const saved = JSON.parse(await readFile(file, "utf8"));
  expect(saved).toMatchObject({ batch: trajectories, settings: { ...diverging, seed: 1 } });
  const replayed = open({ settings: saved.settings, seed: saved.settings.seed });
  const again = await replayed.policyGradientStep(saved.batch).catch((cause: unknown) => cause);
  expect(again).toMatchObject({ code: "TRAINING_NOT_FINITE", message: saved.error });
  await replayed.close();
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
  expect(trainer.state).toEqual(state);
  await trainer.close();
});

test("trajectories that can't be trained on are refused; those without an action are passed over", async () => {
  const trainer = open();
  const [first] = trajectories;
  const refused = async (change: Partial<Experienced>, message: string) =>
    expect(trainer.policyGradientStep([{ ...first!, ...change }])).rejects.toThrow(message);
  await refused({ logprobs: [0] }, "trajectory 0 has 12 tokens, but 1 log-probabilities");
  await refused({ reward: Number.NaN }, "trajectory 0 has the reward NaN");
  await refused({ logprobs: first!.tokens.map(() => 0.5) }, "the log-probability 0.5 at token 3");
  await refused({ mask: first!.tokens.map(() => 0) }, "none of its tokens carries loss");
  const silent = { ...first!, mask: first!.tokens.map(() => 0) };
  const alone = open();
  expect(await trainer.policyGradientStep([...trajectories, silent])).toEqual(
    await alone.policyGradientStep(trajectories),
  );
  await trainer.close();
  await alone.close();
});

test("recorded log-probabilities of the same weights agree, and the gap tells of others", async () => {
  const trainer = open();
  expect((await trainer.policyGradientStep(trajectories)).logprobGap).toBeGreaterThan(0.1);
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
  const state = freshTrainerState({ config: tiny }, randomModelWeights(tiny, 1));
  const trainer = createTrainer({
    config: tiny,
    state,
    settings,
    seed: 1,
    reference: async () => state.weights,
  });
  const sequences = Array.from({ length: 10 }, (_, at) => ({ tokens: [at, 10, 11, at], mask: [0, 0, 0, 1] }));
  const losses = [];
  for (let step = 0; step < 150; step++) losses.push((await trainer.supervisedStep(sequences, 1e-2)).loss);
  expect(losses[0]).toBeGreaterThan(2);
  expect(losses.at(-1)).toBeLessThan(0.05);
  await trainer.close();
});

test.each(algorithms)("steps of %s make rewarded actions likelier", async (algorithm) => {
  const rewarding = { ...settings, ...algorithmPresets[algorithm], epochs: 1, minibatchSize: 12 };
  const initial = randomModelWeights(tiny, 1);
  const trainer = createTrainer({
    config: tiny,
    state: copyTrainerState(freshTrainerState({ config: tiny }, initial)),
    reference: async () => initial,
    settings: { ...rewarding, learningRate: 3e-3, klCoefficient: 0, importanceCorrection: "token-truncate" },
    seed: 1,
  });
  // Every token once; only token 3 pays. Recorded as uniform, which the correction makes good for.
  const step = Array.from({ length: 12 }, (_, token) => ({
    tokens: [5, token],
    mask: [0, 1],
    logprobs: [0, -Math.log(12)],
    reward: token === 3 ? 1 : 0,
    group: "one",
  }));
  // A learning rate of zero makes a supervised step a measurement.
  const surprise = async () => (await trainer.supervisedStep([{ tokens: [5, 3], mask: [0, 1] }], 0)).loss;
  const before = await surprise();
  const losses = [];
  for (let count = 0; count < 30; count++) losses.push((await trainer.policyGradientStep(step)).valueLoss);
  expect(await surprise()).toBeLessThan(before - 0.5);
  if (algorithm === "ppo") expect(losses.at(-1)).toBeLessThan(losses[0]!);
  else expect(losses).toEqual(Array(30).fill(undefined));
  await trainer.close();
});

test("preference steps put the chosen answer ahead", async () => {
  const initial = randomModelWeights(tiny, 1);
  const state = copyTrainerState(freshTrainerState({ config: tiny }, initial));
  const plans: StepPlan[] = [];
  const onPlan = (plan: StepPlan) => plans.push(plan);
  const initialWeights = async () => initial;
  const trainer = createTrainer({
    config: tiny,
    state,
    settings,
    seed: 1,
    reference: initialWeights,
    onPlan,
  });
  const answer = (...tokens: number[]) => ({
    tokens: [5, 6, ...tokens],
    mask: [0, 0, ...tokens.map(() => 1)],
  });
  const pairs = [
    { chosen: answer(1, 2, 3), rejected: answer(4) },
    { chosen: answer(7), rejected: answer(8, 9) },
  ];
  const steps = [];
  for (let count = 0; count < 20; count++) steps.push(await trainer.preferenceStep(pairs, 3e-3));
  expect(steps[0]).toMatchObject({ loss: expect.closeTo(Math.LN2, 5), margin: expect.closeTo(0, 5) });
  expect(steps.at(-1)!.accuracy).toBe(1);
  expect(steps.at(-1)!.loss).toBeLessThan(0.6);
  const own = [...parametersOf(state).values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  expect(plans[0]!.weights, "the reference's are there for its scores alone").toBe(own);
  await trainer.close();
});
