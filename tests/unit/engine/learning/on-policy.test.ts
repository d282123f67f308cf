import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import {
  type StepContext,
  trainOnTrajectories,
} from "../../../../src/engine/learning/policy-gradient-step.ts";
import { policyObjective } from "../../../../src/engine/learning/policy-objective.ts";
import { trainedParameters } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import {
  objectiveSettings,
  onPolicySettings,
  type TrainingSettings,
} from "../../../../src/engine/learning/training-settings.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const { config, reference, state: before, settings: usual, ...fixture } = await ppoFixture();

/** Drawn by another policy than the one that is trained: some tokens are more than twice, others half as likely. */
const trajectories = fixture.trajectories.map((trajectory, index) => ({
  ...trajectory,
  logprobs: trajectory.logprobs.map((value, at) =>
    Math.min(0, value + [-0.9, 0.1, 0, 0.8][(at + index) % 4]!),
  ),
  group: `task ${index % 2}`,
}));

/** A step, with what its engine was asked to score by. */
async function step(settings: TrainingSettings, isOnPolicy: boolean) {
  const { gradientClip, weightDecay } = settings;
  const state = copyTrainerState(before);
  const engine = createTrainingEngine({ config, reference, state, gradientClip, weightDecay });
  const by: string[] = [];
  const score: typeof engine.score = (sequences, weights, temperature) => {
    by.push(weights);
    return engine.score(sequences, weights, temperature);
  };
  const own = isOnPolicy && onPolicySettings(settings);
  const context = defined<StepContext>({
    engine: { ...engine, score },
    settings,
    seed: 1,
    temperature: 0.8,
    objective: policyObjective(objectiveSettings(settings)),
    onPolicyObjective: own ? policyObjective(own) : undefined,
  });
  const metrics = await trainOnTrajectories(context, state, trajectories);
  await engine.close();
  return { metrics, by, learned: trainedParameters(state) };
}

const grpo: TrainingSettings = {
  ...usual,
  ...algorithmPresets.grpo,
  epochs: 1,
  minibatchSize: trajectories.length,
  importanceMinimum: 0.5,
  importanceMaximum: 1.5,
};

test.each([
  ["token-truncate", {}],
  ["token-mask", { ratio: "sequence", klIn: "loss", klCoefficient: 0.1 }],
  ["sequence-truncate", { ratio: "trajectory", entropyCoefficient: 0.01 }],
  ["sequence-mask", { dualClip: 3 }],
] as const)(
  "the only update of a step corrects by %s as if its trajectories had been scored before",
  async (correction, changes) => {
    const settings = { ...grpo, importanceCorrection: correction, ...changes };
    const scored = await step(settings, false);
    const alone = await step(settings, true);
    expect(scored.by).toContain("policy");
    expect(alone.by).toEqual(scored.by.filter((weights) => weights !== "policy"));
    const uncorrected = await step({ ...settings, importanceCorrection: "none" }, false);
    expect(scored.metrics.policyLoss, "it matters").not.toBeCloseTo(uncorrected.metrics.policyLoss, 4);
    expect(scored.metrics.policyLoss, "not all is masked").not.toBeCloseTo(0, 4);
    for (const [name, value] of Object.entries(scored.metrics)) {
      expect(alone.metrics, name).toHaveProperty(name, expect.closeTo(value, 5));
    }
    for (const [name, { data }] of alone.learned) {
      expect(relativeError(data, scored.learned.get(name)!.data), name).toBeLessThan(1e-5);
    }
  },
);

test("where a step has several updates, or values and rewards want to know it, trajectories are scored before", async () => {
  const settings: TrainingSettings = { ...grpo, importanceCorrection: "token-truncate" };
  expect((await step({ ...settings, minibatchSize: trajectories.length - 1 }, true)).by).toContain("policy");
  expect((await step({ ...settings, epochs: 2 }, true)).by).toContain("policy");
  expect(onPolicySettings({ ...settings, klIn: "reward", klCoefficient: 0.1 })).toBeUndefined();
  expect(onPolicySettings({ ...settings, advantages: "gae" })).toBeUndefined();
  expect(onPolicySettings({ ...settings, importanceCorrection: "none" })).toBeUndefined();
});
