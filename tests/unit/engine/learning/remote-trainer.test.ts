import { expect, test } from "vitest";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { wholeCritic } from "../../../../src/engine/learning/critic.ts";
import type { TrainingSample } from "../../../../src/engine/learning/objective.ts";
import type { RemoteModel } from "../../../../src/engine/learning/remote-engine.ts";
import { createRemoteTrainer } from "../../../../src/engine/learning/remote-trainer.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { type TrainerState, trainedParameters } from "../../../../src/engine/learning/trainer-state.ts";
import type { TrainerSteps } from "../../../../src/engine/learning/trainer-steps.ts";
import {
  createTrainingEngine,
  type OpenTrainingEngine,
} from "../../../../src/engine/learning/training-engine.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import softGate from "../../../plugins/loss-soft-gate/index.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config, reference, state: before, settings: usual, ...fixture } = await ppoFixture();
const trajectories = fixture.trajectories.map((trajectory, index) => ({
  ...trajectory,
  group: `task ${index % 2}`,
}));
const settings: TrainingSettings = { ...usual, epochs: 2, minibatchSize: 2 };

/** A remote model that is trained as servers are: by a cross entropy with the weights −g. */
function remotely({ score, update }: OpenTrainingEngine): RemoteModel {
  let samples: TrainingSample[] = [];
  return {
    async score(sequences, weights) {
      const scores = await score(sequences, weights);
      return scores.map(({ logProbabilities }) => logProbabilities);
    },
    async add(sequences) {
      samples = sequences.map(({ sequence, gradients }) => ({
        sequences: [sequence],
        columns: { weights: gradients.map((value) => -value) },
      }));
    },
    step: (learningRate) => update({ objective: supervisedObjective, samples, scalars: {}, learningRate }),
  };
}

type Work<Result> = (trainer: TrainerSteps) => Promise<Result>;

/** Does the work with the model here, and with the same model as a remote one. */
async function bothWays<Result>(given: TrainingSettings, work: Work<Result>) {
  const local = createTrainer({
    config,
    reference,
    state: copyTrainerState(before),
    settings: given,
    seed: 1,
  });
  const { gradientClip, weightDecay, betas = [0.9, 0.999] } = given;
  const state = copyTrainerState(before);
  const optimizer = { gradientClip, weightDecay, betas };
  const engine = createTrainingEngine({ config, reference, state, ...optimizer });
  const critic = wholeCritic(config, copyTrainerState(before).weights);
  const remote = createRemoteTrainer({
    model: remotely(engine),
    config,
    state: { updates: 0, policyGradientSteps: 0 },
    settings: given,
    seed: 1,
    ...(given.critic === "model" && {
      openCritic: async () => ({ config, state: critic, ...optimizer }),
    }),
  });
  const results = [await work(local), await work(remote)] as const;
  for (const one of [local, remote, engine]) await one.close();
  return { results, states: [local.state, state], critics: [local.state.critic ?? critic, critic] };
}

/** The largest difference between two states' weights, relative to the largest weight of each matrix. */
function difference([one, other]: readonly TrainerState[]): number {
  const learned = trainedParameters(other!);
  const errors = [...trainedParameters(one!)].map(([name, { data }]) => {
    return relativeError(learned.get(name)!.data, data);
  });
  return Math.max(...errors);
}

/** Holds the metrics of the remote model to those of the one here. */
function expectSame([local, remote]: readonly [object, object]) {
  expect(Object.keys(remote)).toEqual(Object.keys(local));
  const found = new Map<string, unknown>(Object.entries(remote));
  for (const [name, value] of Object.entries(local))
    expect(Number(found.get(name)), name).toBeCloseTo(Number(value), 5);
}

const withoutValues = Object.entries(algorithmPresets).filter(([, { advantages }]) => advantages !== "gae");

test.each([
  ...withoutValues.map(([name, preset]) => [name, preset] as const),
  ["a KL term in the loss", { ...algorithmPresets.grpo, klIn: "loss", klCoefficient: 0.1 }],
  ["a KL term in the rewards", { ...algorithmPresets.rloo, klIn: "reward", klCoefficient: 0.1 }],
  ["an importance correction", { ...algorithmPresets.grpo, importanceCorrection: "sequence-truncate" }],
  ["a dual clip", { ...algorithmPresets.dapo, dualClip: 3 }],
] as const)("a remote model learns the same as one here, with %s", async (_, changes) => {
  const given = { ...settings, ...changes, entropyCoefficient: 0 };
  const { results, states } = await bothWays(given, (trainer) => trainer.policyGradientStep(trajectories));
  expectSame(results);
  expect(difference([before, states[0]!]), "it learns").toBeGreaterThan(1e-3);
  expect(difference(states)).toBeLessThan(1e-5);
});

test.each([
  ["its own learning rate and a warm-up", { valueLearningRate: 3e-3, valueWarmupSteps: 1 }],
  ["turns as actions", { credit: "turn", gamma: 0.9, lambda: 0.8 }],
  [
    "a KL term in the rewards",
    { klIn: "reward", klCoefficient: 0.1, importanceCorrection: "token-truncate" },
  ],
] as const)("a critic here learns the same next to a remote model, with %s", async (_, changes) => {
  const given: TrainingSettings = { ...settings, ...algorithmPresets.ppo, ...changes, critic: "model" };
  const { results, states, critics } = await bothWays(given, async (trainer) => {
    const first = await trainer.policyGradientStep(trajectories);
    return { first, second: await trainer.policyGradientStep(trajectories) };
  });
  const [local, remote] = results;
  for (const step of ["first", "second"] as const) expectSame([local[step], remote[step]]);
  expect(local.second.valueLoss).toBeGreaterThan(0);
  expect(critics[0]!.valueHead.get("value_head.bias")!.data[0], "the critic learns").not.toBe(0);
  expect(difference(states)).toBeLessThan(1e-5);
  expect(difference(critics)).toBeLessThan(1e-5);
});

test("a loss plugin and a step of one update need no second definition either", async () => {
  const loss: TrainingSettings["loss"] = (tokens) => softGate(tokens, { positive: 1, negative: 1.05 });
  const given = {
    ...settings,
    ...algorithmPresets.grpo,
    loss,
    epochs: 1,
    minibatchSize: trajectories.length,
  };
  const corrected = { ...given, importanceCorrection: "token-truncate" } as const;
  const { results, states } = await bothWays(corrected, (trainer) =>
    trainer.policyGradientStep(trajectories),
  );
  expectSame(results);
  expect(difference(states)).toBeLessThan(1e-5);
});

test("demonstrations and pairs train a remote model the same as one here", async () => {
  const [chosen, rejected] = trajectories;
  const pair = { chosen: chosen!, rejected: rejected! };
  const { results, states } = await bothWays(settings, async (trainer) => {
    const supervised = await trainer.supervisedStep(trajectories, 1e-3);
    const ipo = await trainer.preferenceStep([pair], 1e-3, { loss: "ipo" });
    const sigmoid = await trainer.preferenceStep([pair], 1e-3, { labelSmoothing: 0.1 });
    return { supervised, ipo, sigmoid, scores: { ...(await trainer.score([chosen!], "reference")) } };
  });
  const [local, remote] = results;
  for (const name of ["supervised", "ipo", "sigmoid", "scores"] as const)
    expectSame([local[name], remote[name]]);
  expect(difference(states)).toBeLessThan(1e-5);
});
