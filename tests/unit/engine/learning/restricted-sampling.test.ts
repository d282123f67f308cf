import { afterAll, expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { TrainingTrajectory } from "../../../../src/contracts/trainer.ts";
import { type Algorithm, algorithmPresets, algorithms } from "../../../../src/engine/learning/algorithm.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createSampler } from "../../../../src/engine/sampling/sampler.ts";
import type { SampleRequest } from "../../../../src/engine/sampling/sequence.ts";
import { actionSegment } from "../../../../src/run/projections/action-segment.ts";
import { trainingTrajectory } from "../../../../src/run/projections/training-trajectory.ts";
import { smallModel } from "../../../support/small-model.ts";
import { modelFolder } from "../sampling/policy-folders.ts";

const config = smallModel(64);
const weights = randomModelWeights(config, 3);
const sampler = createSampler({ config, slots: 16, threads: 1, stopTokens: [2], decode: () => "" });
await sampler.load(0, await modelFolder(config, weights));
afterAll(() => sampler.close());

/** Sixteen trajectories of four tasks, drawn so and recorded as a run records them. */
async function rollOut(sampling: Partial<SampleRequest["sampling"]>, allowed?: Int32Array) {
  const { temperature = 1 } = sampling;
  const make = async (index: number): Promise<TrainingTrajectory> => {
    const tokens = [4, 5 + (index % 4), 6];
    const sample = await sampler.generate(
      defined({
        tokens,
        version: 0,
        key: { seed: 1, trajectory: `t${index}`, turn: 1 },
        sampling: { ...sampling, temperature, maxTokens: 40 },
        constraint: allowed && {
          allowed: async () => allowed,
          accept: () => undefined,
          dispose: () => undefined,
        },
      }),
    );
    const identity = { id: `t${index}`, group: `task ${index % 4}`, reward: Number(index % 3 === 0) };
    const action = actionSegment(
      { ...sample, text: "" },
      { previous: null, policyVersion: 0, before: 0 },
      sampling.temperature ?? 1,
    );
    const prompt = { previous: null, origin: "prompt" as const, text: "", tokens };
    return trainingTrajectory(identity, { rows: [[prompt, action]], actions: [action] }, temperature);
  };
  return Promise.all(Array.from({ length: 16 }, (_, index) => make(index)));
}

/** The first step on trajectories, by the policy that sampled them: one update. */
async function firstStep(
  algorithm: Algorithm,
  trajectories: TrainingTrajectory[],
  importanceCorrection: TrainingSettings["importanceCorrection"],
  temperature = 1,
) {
  const trainer = createTrainer({
    config,
    state: freshTrainerState(
      { config },
      new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }])),
    ),
    reference: async () => weights,
    settings: {
      ...algorithmPresets[algorithm],
      importanceCorrection,
      learningRate: 1e-4,
      warmupSteps: 0,
      decay: "none",
      decaySteps: 1,
      finalFraction: 0,
      epochs: 1,
      minibatchSize: 16,
      gradientClip: 1,
      weightDecay: 0,
    },
    seed: 1,
  });
  try {
    return await trainer.policyGradientStep(trajectories, { temperature });
  } finally {
    await trainer.close();
  }
}

/** What the sampler kept of the policy's probability, a token. */
function keptMass(trajectories: readonly TrainingTrajectory[]): number {
  const kept = trajectories.flatMap(({ mask, logprobs, samplingLogprobs = logprobs }) =>
    logprobs.flatMap((value, at) => (mask[at] === 1 ? [Math.exp(value - samplingLogprobs[at]!)] : [])),
  );
  return kept.reduce((sum, mass) => sum + mass, 0) / kept.length;
}

test.each(algorithms)(
  "%s: with 0.97 of the mass kept, nothing is clipped before the policy has changed",
  async (algorithm) => {
    const trajectories = await rollOut({ topP: 0.97 });
    expect(keptMass(trajectories)).toBeCloseTo(0.97, 1);
    const free = trajectories.map(({ samplingLogprobs: _, ...one }) => one);
    const whole = await firstStep(algorithm, free, "none");
    const corrected = await firstStep(algorithm, trajectories, "token-truncate");
    for (const metrics of [whole, corrected]) {
      expect(metrics.clipFraction).toBeLessThan(0.01);
      expect(metrics.approximateKl).toBeLessThan(1e-6);
      expect(metrics.logprobGap).toBeLessThan(1e-4);
    }
    expect(corrected.gradientNorm / whole.gradientNorm).toBeGreaterThan(0.9);
    expect(corrected.gradientNorm / whole.gradientNorm).toBeLessThan(1.1);
  },
);

const even = Int32Array.of(0x55555555, 0x55555555);

test.each([
  ["top-k", { topK: 20 }],
  ["min-p", { minP: 0.1 }],
  ["a repetition penalty", { repetitionPenalty: 1.3 }],
  ["a grammar", {}, even],
  ["top-p at temperature 0.7", { topP: 0.9, temperature: 0.7 }],
  ["a grammar at temperature 1.3", { temperature: 1.3 }, even],
  ["temperature 0.7", { temperature: 0.7 }],
  ["greedy actions", { temperature: 0 }],
] as const)("under %s the ratio is that of two whole distributions", async (_, sampling, allowed?) => {
  const trajectories = await rollOut(sampling, allowed);
  const temperature = "temperature" in sampling ? sampling.temperature || 1 : 1;
  const metrics = await firstStep("gspo", trajectories, "none", temperature);
  expect(metrics.clipFraction).toBeLessThan(0.01);
  expect(metrics.approximateKl).toBeLessThan(1e-6);
  expect(metrics.logprobGap).toBeLessThan(1e-4);
});
