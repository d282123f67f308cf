import { expect, test } from "vitest";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { openObjective } from "../../../../src/engine/learning/loss-gradients.ts";
import type { TrainingSample } from "../../../../src/engine/learning/objective.ts";
import { policyObjective } from "../../../../src/engine/learning/policy-objective.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";

function sampleOf(actions: number, columns: Record<string, Float32Array>): TrainingSample {
  return {
    sequences: [{ tokens: Array(actions + 1).fill(1), mask: [0, ...Array(actions).fill(1)] }],
    columns,
  };
}

const counts = [3, 1, 4];
const samples = counts.map((count, index) => {
  const column = (value: (at: number) => number) =>
    Float32Array.from({ length: count }, (_, at) => value(at));
  return sampleOf(count, {
    oldLogProbabilities: column((at) => -1 - 0.1 * at),
    referenceLogProbabilities: column((at) => -1.2 + 0.2 * at),
    advantages: column((at) => [0.7, -1.1, 0.4][(at + index) % 3]!),
    policyWeights: column(() => 1 / 8),
    weights: column(() => 1 / 8),
    shares: column(() => 1 / 8),
    sampleShares: column(() => 1 / count),
  });
});
const logProbabilities = Float32Array.of(-1.05, -0.9, -1.6, -1.02, -1.01, -1.3, -1.15, -0.5);

test.each([
  ["clipped ratios of tokens and a KL term", algorithmPresets.dapo, "k3"],
  ["clipped ratios of sequences", { ...algorithmPresets.gspo, clipLow: 0.2, clipHigh: 0.2 }, undefined],
] as const)("the gradient of %s is the slope of the loss", async (_, preset, kl) => {
  const objective = policyObjective({ ...preset, entropyCoefficient: 0, ...(kl && { kl }) });
  const opened = await openObjective(objective);
  const run = (given: Float32Array) => opened.run(samples, { klCoefficient: 0.2 }, given);
  const { gradients, terms } = await run(logProbabilities);
  expect(Object.keys(terms)).toContain("clipFraction");
  expect(gradients.some((value) => value !== 0)).toBe(true);
  const step = 1e-2;
  for (const at of logProbabilities.keys()) {
    const lossAt = async (by: number) =>
      (await run(logProbabilities.with(at, logProbabilities[at]! + by))).loss;
    const slope = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step);
    expect(gradients[at], `token ${at}`).toBeCloseTo(slope, 4);
  }
  await opened.close();
});

test("the sampled entropy bonus has the entropy's gradient, on average over what the old policy draws", async () => {
  const softmax = (logits: readonly number[]) => {
    const exponents = logits.map(Math.exp);
    const total = exponents.reduce((sum, value) => sum + value);
    return exponents.map((value) => value / total);
  };
  const [old, now] = [softmax([0.3, -0.5, 1.1, 0]), softmax([0.1, 0.4, 0.9, -1.2])];
  const settings = { ...algorithmPresets.dapo, sampledEntropyCoefficient: 0.5 };
  const objective = policyObjective(settings);
  expect([objective.wants.entropies, objective.clipped]).toEqual([false, undefined]);
  const opened = await openObjective(objective);
  // Each token, as often as the old policy draws it.
  const draws = sampleOf(old.length, {
    oldLogProbabilities: Float32Array.from(old, Math.log),
    policyWeights: Float32Array.from(old),
    advantages: new Float32Array(old.length),
    shares: Float32Array.from(old),
  });
  const { gradients } = await opened.run([draws], {}, Float32Array.from(now, Math.log));
  await opened.close();
  const entropy = -now.reduce((sum, p) => sum + p * Math.log(p), 0);
  now.forEach((p, logit) => {
    const slope = gradients.reduce((sum, value, at) => sum + value * (Number(at === logit) - p), 0);
    expect(slope).toBeCloseTo(0.5 * p * (Math.log(p) + entropy), 6);
  });
});

test("a large minibatch is computed in several passes", async () => {
  const weights = [0.25, -0.5, 2].map((weight) => new Float32Array(20_000).fill(weight));
  const opened = await openObjective(supervisedObjective);
  const many = weights.map((column) => sampleOf(column.length, { weights: column }));
  const given = new Float32Array(60_000).fill(-1);
  const { loss, gradients } = await opened.run(many, {}, given);
  await opened.close();
  expect(loss).toBeCloseTo(1.75 * 20_000, 0);
  expect(gradients).toEqual(
    Float32Array.from(weights.flatMap((column) => [...column].map((weight) => -weight))),
  );
});
