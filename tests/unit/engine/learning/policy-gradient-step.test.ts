import { describe, expect, test } from "vitest";
import { type Algorithm, algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { nextKlCoefficient } from "../../../../src/engine/learning/kl-controller.ts";
import type { Experienced } from "../../../../src/engine/learning/token-rewards.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, reference } = fixture;
const trajectories = fixture.trajectories.map((trajectory, index) => ({
  ...trajectory,
  group: `task ${index % 2}`,
}));

/** One step on the fixture's model. */
async function step(
  algorithm: Algorithm,
  changes: Partial<TrainingSettings> = {},
  batch: Experienced[] = trajectories,
) {
  const settings = { ...fixture.settings, ...algorithmPresets[algorithm], epochs: 1, ...changes };
  const trainer = createTrainer({
    config,
    reference,
    settings,
    seed: 1,
    state: copyTrainerState(fixture.state),
  });
  try {
    return { metrics: await trainer.policyGradientStep(batch), state: trainer.state };
  } finally {
    await trainer.close();
  }
}

test("what an algorithm doesn't use is neither computed nor reported", async () => {
  const { metrics } = await step("dr-grpo");
  expect(metrics).not.toHaveProperty("kl");
  expect(metrics).not.toHaveProperty("valueLoss");
  const actions = trajectories.flatMap(({ logprobs, mask }) => logprobs.filter((_, at) => mask[at] === 1));
  const surprise = -actions.reduce((sum, value) => sum + value, 0) / actions.length;
  expect(metrics.entropy).toBeCloseTo(surprise, 4);
  expect((await step("ppo")).metrics).toMatchObject({
    kl: expect.any(Number),
    valueLoss: expect.any(Number),
  });
  expect((await step("rloo")).metrics.kl).toBeGreaterThan(0);
});

test("without a scoring pass the gap is that of the first update", async () => {
  const scored = await step("ppo");
  const { metrics } = await step("dr-grpo", { minibatchSize: trajectories.length });
  expect(metrics.logprobGap).toBeCloseTo(scored.metrics.logprobGap, 5);
});

describe("a step whose longest trajectory does not fit into the memory for an update", () => {
  const within = async (memory: number, changes: Partial<TrainingSettings> = {}) => {
    const told: string[] = [];
    let referred = 0;
    const trainer = createTrainer({
      config,
      seed: 1,
      memory,
      state: copyTrainerState(fixture.state),
      settings: { ...fixture.settings, ...algorithmPresets.ppo, ...changes },
      reference: async () => {
        referred++;
        return reference();
      },
    });
    const batch = trajectories.map((trajectory) => ({ ...trajectory, truncated: true }));
    const pending = trainer.policyGradientStep(batch, { onProgress: (part) => told.push(part) });
    const [result] = await Promise.allSettled([pending]);
    await trainer.close();
    return { result, told, referred };
  };

  test("is refused before anything is scored", async () => {
    expect(await within(1e8)).toEqual({
      result: { status: "rejected", reason: expect.objectContaining({ code: "TRAINING_MEMORY_SHORT" }) },
      told: [],
      referred: 0,
    });
  });

  test("is not refused if the trajectory is masked", async () => {
    const { result } = await within(1e8, { maskTruncated: true });
    expect(result).toMatchObject({ status: "fulfilled", value: { masked: trajectories.length } });
  });

  test("is not refused with more memory", async () => {
    const { result, told, referred } = await within(1e10);
    if (result.status === "rejected") throw result.reason;
    expect(result.value.kl).toBeGreaterThan(0);
    expect([referred, told[0]]).toEqual([1, "scores by the policy, 0 % done"]);
  });
});

test("a step ends after the first update that goes too far from the policy that sampled", async () => {
  const many = { epochs: 6, minibatchSize: 2, learningRate: 0.01, warmupSteps: 0 };
  const whole = await step("dr-grpo", { ...many, klStop: 1e6 });
  expect(whole.metrics.updates).toBe(6 * Math.ceil(trajectories.length / 2));
  const first = await step("dr-grpo", { ...many, klStop: 1e-9 });
  expect(first.metrics.updates).toBe(1);
  const stopped = await step("dr-grpo", { ...many, klStop: 3 * first.metrics.approximateKl });
  const made = stopped.metrics.updates ?? 0;
  expect(made).toBeGreaterThan(1);
  expect(made).toBeLessThan(whole.metrics.updates ?? 0);
  expect(stopped.state.updates - fixture.state.updates).toBe(made);
  expect((await step("dr-grpo", many)).metrics).not.toHaveProperty("updates");
});

test("the value head may have a learning rate of its own, and learn alone at first", async () => {
  const moved = ({ weights, valueHead }: (typeof fixture)["state"]) => {
    const far = (now: typeof weights, before: typeof weights) =>
      Math.max(...[...now].map(([name, { data }]) => distance(data, before.get(name)!.data)));
    return { policy: far(weights, fixture.state.weights), value: far(valueHead, fixture.state.valueHead) };
  };
  const plain = await step("ppo", { learningRate: 1e-3, warmupSteps: 0 });
  const faster = await step("ppo", { learningRate: 1e-3, warmupSteps: 0, valueLearningRate: 1e-2 });
  expect(plain.metrics).not.toHaveProperty("valueLearningRate");
  expect(faster.metrics).toMatchObject({ learningRate: 1e-3, valueLearningRate: 1e-2 });
  expect(moved(faster.state).value).toBeGreaterThan(5 * moved(plain.state).value);
  const alone = await step("ppo", { learningRate: 1e-3, warmupSteps: 0, valueWarmupSteps: 1 });
  expect(alone.metrics).toMatchObject({ learningRate: 0, valueLearningRate: 1e-3 });
  expect(moved(alone.state).policy).toBe(0);
  expect(moved(alone.state).value).toBeCloseTo(moved(plain.state).value, 6);
});

function distance(one: Float32Array, other: Float32Array): number {
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at]!)), 0);
}

test("trajectories that a limit cut train nothing if they are masked, but have a part in the baseline", async () => {
  const [first, ...others] = trajectories;
  const cut = [{ ...first!, truncated: true }, ...others];
  const settings = { minibatchSize: trajectories.length };
  const masked = await step("dr-grpo", { ...settings, maskTruncated: true }, cut);
  expect(masked.metrics.masked).toBe(1);
  const actions = others.flatMap(({ mask }) => mask.filter((marked) => marked === 1)).length;
  expect(masked.metrics.tokens).toBe(actions);
  // Of what was sampled, and of the baseline, nothing is missing: only what the reward of the masked one says.
  const richer = [{ ...first!, truncated: true, reward: first!.reward + 3 }, ...others];
  const moved = await step("dr-grpo", { ...settings, maskTruncated: true }, richer);
  expect(moved.metrics.policyLoss).not.toBeCloseTo(masked.metrics.policyLoss, 5);
  const without = await step("dr-grpo", settings, others);
  expect(masked.metrics.policyLoss).not.toBeCloseTo(without.metrics.policyLoss, 5);
  const unmasked = await step("dr-grpo", settings, cut);
  expect(unmasked.metrics).toEqual((await step("dr-grpo", settings)).metrics);
  const all = trajectories.map((one) => ({ ...one, truncated: true }));
  const none = await step("dr-grpo", { ...settings, maskTruncated: true }, all);
  expect(none.metrics).toMatchObject({ masked: trajectories.length, tokens: 0, gradientNorm: 0 });
  expect(none.state).toEqual({ ...fixture.state, policyGradientSteps: 1 });
});

test("running rewards: the second step goes by the moments of both, as if its rewards had been normalized before", async () => {
  const plain = { ...fixture.settings, ...algorithmPresets["dr-grpo"], epochs: 1, rewardClip: 0.9 };
  const settings: TrainingSettings = { ...plain, rewardNormalization: "scale" };
  const trainer = createTrainer({ config, settings, seed: 1, state: copyTrainerState(fixture.state) });
  const later = trajectories.map((one, index) => ({ ...one, reward: 4 * one.reward + index }));
  await trainer.policyGradientStep(trajectories);
  const before = copyTrainerState(trainer.state);
  const metrics = await trainer.policyGradientStep(later);
  await trainer.close();

  const all = [...trajectories, ...later].map(({ reward }) => reward);
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
  const deviation = Math.sqrt(all.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (all.length - 1));
  expect(metrics.rewardScale).toBeCloseTo(deviation, 10);
  const other = createTrainer({ config, settings: plain, seed: 1, state: before });
  const given = later.map((one) => ({ ...one, reward: one.reward / deviation }));
  const { policyLoss, gradientNorm } = await other.policyGradientStep(given);
  await other.close();
  expect(metrics.policyLoss).toBeCloseTo(policyLoss, 5);
  expect(metrics.gradientNorm).toBeCloseTo(gradientNorm, 4);
});

test("groups whose rewards are all equal are left out", async () => {
  const uniform = trajectories.map((one) => (one.group === "task 0" ? { ...one, reward: 1 } : one));
  const { metrics } = await step("dapo", {}, uniform);
  const left = uniform.filter(({ group }) => group === "task 1");
  expect(metrics.tokens).toBe(left.flatMap(({ mask }) => mask.filter((marked) => marked === 1)).length);

  const none = await step(
    "dapo",
    {},
    trajectories.map((one) => ({ ...one, reward: 1 })),
  );
  expect(none.metrics).toMatchObject({ tokens: 0, policyLoss: 0, gradientNorm: 0, logprobGap: 0 });
  expect(none.metrics.entropy).toBeGreaterThan(0);
  expect(none.state).toEqual({ ...fixture.state, policyGradientSteps: 1 });
});

test("with credit by turn, groups of one reward are left out only if all their turns earned the same", async () => {
  const [first] = trajectories;
  const turns = (turnRewards: number[], group: string) => ({
    ...first!,
    group,
    turnRewards,
    reward: turnRewards.reduce((sum, reward) => sum + reward, 0),
  });
  const differing = [turns([0, 1], "a"), turns([1, 0], "a"), turns([0, 1], "b"), turns([0, 1], "b")];
  const alike = [turns([1, 1], "c"), turns([1, 1], "c")];
  const { metrics } = await step("dapo", { credit: "turn" }, [...differing, ...alike]);
  const actions = first!.mask.filter((marked) => marked === 1).length;
  expect(metrics.tokens).toBe(differing.length * actions);
  expect(metrics.gradientNorm).toBeGreaterThan(0);
  expect((await step("dapo", {}, [...differing, ...alike])).metrics.tokens).toBe(0);
});

test("a KL coefficient with a target follows the KL divergence", async () => {
  const { metrics, state } = await step("ppo", { klCoefficient: 0.05, klTarget: 1e-6, klHorizon: 60 });
  const target = { target: 1e-6, horizon: 60 };
  expect(state.klCoefficient).toBe(nextKlCoefficient(0.05, metrics.kl!, trajectories.length, target));
  expect(state.klCoefficient).toBeCloseTo(0.05 * (1 + (0.2 * 6) / 60));
  expect(nextKlCoefficient(1, 0.09, 100, { target: 0.1, horizon: 1000 })).toBeCloseTo(0.99);
  expect(nextKlCoefficient(1, 0, 100, { target: 0.1, horizon: 1000 })).toBeCloseTo(0.98);
  expect((await step("ppo")).state).not.toHaveProperty("klCoefficient");
});

test("a correction for another sampler uses the trainer's own log-probabilities as the old ones", async () => {
  const { metrics } = await step("grpo", { importanceCorrection: "token-truncate", minibatchSize: 6 });
  expect(metrics.approximateKl).toBeCloseTo(0, 6);
  expect(metrics.clipFraction).toBe(0);
});

test("rewards of turns must fit the turns", async () => {
  const [first] = trajectories;
  const refused = (turnRewards: number[]) => step("ppo", {}, [{ ...first!, turnRewards }]);
  await expect(refused([1])).rejects.toThrow("trajectory 0 has 2 turns, but 1 rewards of turns");
  await expect(refused([1, Number.NaN])).rejects.toThrow("trajectory 0 has a turn with the reward NaN");
});

test("a trajectory's rows are sequences of their own, and share its advantage", async () => {
  const pair = ([one, other]: Experienced[]): Experienced => ({
    ...one!,
    tokens: [...one!.tokens, ...other!.tokens],
    mask: [...one!.mask, ...other!.mask],
    logprobs: [...one!.logprobs, ...other!.logprobs],
    rows: [one!.tokens.length, other!.tokens.length],
    group: "all",
  });
  const four = trajectories
    .slice(0, 4)
    .map(({ turnRewards: _, ...one }, index) => ({ ...one, group: "all", reward: index < 2 ? 1 : 0 }));
  for (const algorithm of ["grpo", "ppo"] as const) {
    const changes = {
      normalization: "none",
      minibatchSize: 4,
      aggregation: "token-mean",
      credit: "trajectory",
    } as const;
    const rows = await step(algorithm, changes, [pair(four.slice(0, 2)), pair(four.slice(2))]);
    expect(rows.metrics.tokens).toBe(four.flatMap(({ mask }) => mask.filter((one) => one === 1)).length);
    if (algorithm === "ppo") continue; // a value head sees the rows as one episode
    const apart = await step(algorithm, changes, four);
    expect(rows.metrics.gradientNorm).toBeCloseTo(apart.metrics.gradientNorm, 5);
    for (const [name, weight] of apart.state.weights) {
      const trained = rows.state.weights.get(name)!.data;
      expect(Math.max(...weight.data.map((value, at) => Math.abs(value - trained[at]!)))).toBeLessThan(1e-5);
    }
  }
  const short = { ...pair(four), rows: [1, 2] };
  await expect(step("grpo", {}, [short])).rejects.toMatchObject({ code: "TRAINING_BATCH_INVALID" });
});
