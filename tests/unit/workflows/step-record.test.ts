import { expect, test } from "vitest";
import stepRecordSchema from "../../../schemas/step-record.schema.json" with { type: "json" };
import { createAjv } from "../../../src/base/validation/ajv.ts";
import type { EndedGroup, TrajectorySummary } from "../../../src/contracts/rollout.ts";
import type { StepInput } from "../../../src/contracts/run.ts";
import { withoutUnreadable } from "../../../workflows/ended-groups.ts";
import { stepRecord } from "../../../workflows/step-record.ts";
import { stepSettings } from "../../support/step-settings.ts";

const queues = { orchestration: "orchestration", policy: "policy", tools: "tools", trainer: "trainer" };
const settings = { ...stepSettings, steps: 9, batchSize: 4, groupSize: 1, minGroup: 0 };
const input: StepInput = {
  run: "run",
  step: 3,
  policyVersion: 5,
  settings,
  queues,
  groups: [],
  since: 0,
  trainedBefore: 7,
  quickTurns: true,
};
const metrics = {
  kl: 0.1,
  approximateKl: 0.01,
  entropy: 0.5,
  clipFraction: 0.1,
  policyLoss: 0.2,
  valueLoss: 0.3,
  gradientNorm: 1,
  learningRate: 1e-4,
  logprobGap: 0,
};
const trained = { policyVersion: 6, metrics, seconds: 2 };

function result(changes: Partial<TrajectorySummary>): TrajectorySummary {
  return {
    trajectory: "run/step-0003/task-00000/0",
    outcome: "answered",
    reward: 0,
    success: false,
    turns: 0,
    head: "a",
    policyVersion: 5,
    newestPolicyVersion: 5,
    tokens: { prompt: 10, action: 4, observation: 0 },
    generationSeconds: 0.1,
    toolCalls: 0,
    validCalls: 0,
    ...changes,
  };
}

const first = result({
  reward: 1,
  success: true,
  toolCalls: 2,
  validCalls: 1,
  turns: 2,
  policyVersion: 4,
});
const second = result({ reward: 0.5, tokens: { prompt: 12, action: 8, observation: 3 }, turns: 1 });
const failed = result({
  outcome: "left-out",
  reward: 9,
  toolCalls: 5,
  failure: "calculator: the host is down",
  tokens: { prompt: 99, action: 99, observation: 99 },
});
const clock = [1000, 3500, 5500, 5750];

test("means are over what finished; a trajectory left out is only counted, with its reason", () => {
  const groups = [{ group: "a", results: [first, second, failed] }];
  const record = stepRecord(input, groups, trained, clock);
  expect(record).toMatchObject({
    step: 3,
    policyVersion: 6,
    staleness: 1,
    stalenessMean: 0.5,
    trajectories: 2,
    leftOut: 1,
    trajectoriesSoFar: 9,
    leftOutShare: 1 / 3,
    leftOutReasons: { "calculator: the host is down": 1 },
    rewardMean: 0.75,
    successRate: 0.5,
    turns: 1.5,
    tokens: { prompt: 22, action: 12, observation: 3 },
    actionLength: 6,
    kl: 0.1,
    seconds: { rollout: 2.5, train: 2, publish: 0.25, total: 4.75 },
  });
  const validate = createAjv().compile(stepRecordSchema);
  expect(validate(record), JSON.stringify(validate.errors)).toBe(true);
});

test("what the trainer could not read any more is counted as left out, with its reason", () => {
  const broken = result({ trajectory: "run/step-0003/task-00000/1", reward: 1 });
  const unreadable = [{ trajectory: broken.trajectory, reason: "its turns can't be read" }];
  const groups = withoutUnreadable([{ group: "a", results: [first, broken] }], unreadable);
  const record = stepRecord(input, groups, { ...trained, unreadable }, clock);
  expect(record).toMatchObject({ trajectories: 1, leftOut: 1, rewardMean: 1 });
  expect(record.leftOutReasons).toEqual({ "its turns can't be read": 1 });
  expect(record).not.toHaveProperty("unreadable");
});

test("groups that train nothing count in the means, but not among the trajectories trained on", () => {
  const groups: EndedGroup[] = [
    { group: "a", results: [first, second] },
    { group: "b", results: [second, second], leftOut: "uniform" },
    { group: "c", results: [first, failed], leftOut: "lost" },
  ];
  const strict = { ...settings, minGroup: 2, dynamicSampling: { maxRounds: 2 } };
  const record = stepRecord({ ...input, settings: strict }, groups, trained, clock);
  expect(record).toMatchObject({ trajectories: 2, leftOut: 1, groupsLeftOut: 2, groupsLost: 1 });
  expect(record.rewardMean).toBe(0.7);
});

test("reward spreads and uniform groups are those of the trajectories that finished", () => {
  const rewards = (...values: number[]) => values.map((reward) => result({ reward }));
  const groups: EndedGroup[] = [
    { group: "a", results: rewards(0, 1, 1, 0) },
    { group: "b", results: [...rewards(0, 0, 0), failed] },
    { group: "c", results: rewards(1, 1) },
    { group: "d", results: rewards(0.5, 0.5) },
    { group: "e", results: [...rewards(0), failed] },
  ];
  const record = stepRecord(input, groups, trained, clock);
  expect(record).toMatchObject({ uniformGroupShare: 0.75, zeroGroupShare: 0.25, oneGroupShare: 0.25 });
  expect(record.rewardSpreadWithin).toBeCloseTo(0.125, 12);
  expect(record.rewardSpreadBetween).toBeCloseTo(Math.sqrt(0.14), 12);
});

test("a group is not uniform if its turns earned differently", () => {
  const turnRewards = (least: number, most: number) => result({ reward: 1, turnRewards: { least, most } });
  const groups = [{ group: "a", results: [turnRewards(0, 1), turnRewards(0, 1)] }];
  const record = stepRecord(input, groups, trained, clock);
  expect(record).toMatchObject({ uniformGroupShare: 0, rewardSpreadWithin: 0 });
});

test("groups of one have no spread of their own", () => {
  const groups = [
    { group: "a", results: [first] },
    { group: "b", results: [second] },
  ];
  const record = stepRecord(input, groups, trained, clock);
  expect(record).not.toHaveProperty("uniformGroupShare");
  expect(record).not.toHaveProperty("rewardSpreadWithin");
  expect(record.rewardSpreadBetween).toBe(0.25);
});
