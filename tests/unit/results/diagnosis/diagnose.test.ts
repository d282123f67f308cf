import { describe, expect, test } from "vitest";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { Plan } from "../../../../src/contracts/plan.ts";
import type { EvaluationRecord } from "../../../../src/contracts/run.ts";
import { diagnose, diagnoseRun } from "../../../../src/results/diagnosis/diagnose.ts";
import { type SampleOptions, samplePlan } from "../../../support/sample-plan.ts";

const defaults: SampleOptions = {
  steps: 10,
  batchSize: 16,
  tasks: 100,
  evaluationEvery: 1,
  warmStart: true,
};

function planWith(change: (plan: Plan) => void = () => {}): Plan {
  const plan = structuredClone(samplePlan(defaults));
  plan.rollout.batchSize = 16;
  plan.rollout.groupSize = 4;
  plan.trainer.config = { algorithm: "grpo" };
  change(plan);
  return plan;
}

/** A step of a run that learns, as `pipelines/calculator.yaml` recorded some. */
function healthy(step: number): StepRecord {
  return {
    step,
    policyVersion: step + 1,
    staleness: 0,
    trajectories: 16,
    trajectoriesSoFar: 16 * step,
    leftOut: 0,
    leftOutShare: 0,
    rewardMean: 0.4 + 0.05 * step,
    successRate: 0.4 + 0.05 * step,
    toolCallRate: 0.5,
    validCallRate: 0.95,
    unreadableCallRate: 0.02,
    cutActionShare: 0.03,
    uniformGroupShare: 0.25,
    zeroGroupShare: 0.25,
    oneGroupShare: 0,
    rewardSpreadWithin: 0.3,
    rewardSpreadBetween: 0.2,
    limitedShare: 0,
    solvedRewardLead: 1,
    kl: 0.003 * step,
    approximateKl: 0.0003,
    shownAnswerShare: 0.4,
    givenAnswerShare: 0.75,
    entropy: 0.25,
    clipFraction: 0.003,
    policyLoss: 0.01,
    gradientNorm: 0.8,
    learningRate: 1e-5 * step,
    logprobGap: 1e-5,
    logprobGapMean: 1e-7,
    samplerKl: 1e-9,
    tokens: { prompt: 100, action: 240, observation: 80 },
    actionLength: 15 + step,
    turns: 1.5,
    seconds: { rollout: 1, train: 1, publish: 0.1, total: 2.1 },
  };
}

/** A step that trained on examples. */
function onExamples(step: number, loss: number): StepRecord {
  const { trajectories: _, ...record } = healthy(step);
  const { tokens, seconds, policyVersion, learningRate } = record;
  const counts = { staleness: 0, trajectories: 0, trajectoriesSoFar: 0, leftOut: 0 };
  return {
    step,
    policyVersion,
    ...counts,
    gradientNorm: 2,
    learningRate,
    loss,
    examples: 16,
    tokens,
    seconds,
  };
}

function evaluation(step: number, accuracy: number, more: Partial<EvaluationRecord> = {}): EvaluationRecord {
  return {
    name: `evaluation-v${step + 1}`,
    step,
    policyVersion: step + 1,
    accuracy,
    tasks: 100,
    leftOut: 0,
    toolCallRate: 1,
    meanActionTokens: 20,
    seconds: 1,
    ...more,
  };
}

const steps = [1, 2, 3];
const changed = (change: Partial<StepRecord> | ((step: number) => Partial<StepRecord>)) =>
  steps.map((step) => ({ ...healthy(step), ...(typeof change === "function" ? change(step) : change) }));

interface Case {
  steps: StepRecord[];
  plan?: Plan;
  evaluations?: EvaluationRecord[];
}

const uniform = (reward: number): Partial<StepRecord> => ({
  rewardMean: reward,
  successRate: reward === 1 ? 1 : 0,
  uniformGroupShare: 1,
  zeroGroupShare: reward === 0 ? 1 : 0,
  oneGroupShare: reward === 1 ? 1 : 0,
  rewardSpreadWithin: 0,
  rewardSpreadBetween: 0,
});
const ppo = planWith((plan) => {
  plan.trainer.config = { algorithm: "ppo" };
});

const cases: Record<string, Case> = {
  "paused-hosts": {
    steps: changed({
      hostPauses: { search: 40, judge: 2 },
      seconds: { rollout: 90, train: 5, publish: 1, total: 96 },
    }),
  },
  overload: {
    steps: changed({
      leftOut: 8,
      leftOutReasons: { "The tool search failed once. The last error: no answer within 10 s.": 8 },
    }),
  },
  "many-left-out": { steps: changed({ leftOut: 8, leftOutReasons: { "code: no such file": 8 } }) },
  "lost-groups": { steps: changed({ groupsLost: 2 }) },
  "different-tools": { steps: changed({ toolDifferences: ["the agent offers sum"] }) },
  "random-actions": { steps: changed({ entropy: 5, successRate: 0 }) },
  "greedy-sampling": {
    steps: changed({ uniformGroupShare: 0.9 }),
    plan: planWith((plan) => {
      plan.rollout.temperature = 0.01;
    }),
  },
  "cut-actions": { steps: changed({ cutActionShare: 0.5 }) },
  "cut-observations": { steps: changed({ turns: 2, metrics: { cutObservations: 0.9 } }) },
  "no-tool-calls": { steps: changed({ toolCallRate: 0, unreadableCallRate: 0, successRate: 0.2 }) },
  "unreadable-calls": { steps: changed({ unreadableCallRate: 0.7, validCallRate: 0.3 }) },
  "invalid-calls": { steps: changed({ validCallRate: 0.1 }) },
  "same-observations": {
    steps: changed({ commonObservation: { text: "Error: no license", share: 1, calls: 20 } }),
  },
  "missed-answers": { steps: changed({ shownAnswerShare: 0.9, givenAnswerShare: 0.1 }) },
  "limited-trajectories": { steps: changed({ limitedShare: 0.9, successRate: 0.1 }) },
  "never-rewarded": { steps: changed(uniform(0)) },
  "constant-rewards": { steps: changed(uniform(0.5)) },
  "uniform-groups": { steps: changed({ uniformGroupShare: 0.9, zeroGroupShare: 0.9 }) },
  "reward-against-success": { steps: changed({ solvedRewardLead: -0.5 }) },
  "reward-without-success": {
    steps: changed({ solvedRewardLead: 0.05, trajectories: 32 }),
  },
  "large-rewards": { steps: changed({ rewardSpreadBetween: 300 }), plan: ppo },
  "reward-hacking": {
    steps: changed({}),
    evaluations: [evaluation(0, 0.6), evaluation(2, 0.3)],
  },
  "reward-collapse": { steps: changed((step) => ({ rewardMean: step === 1 ? 0.8 : 0.2 })) },
  "tasks-exhausted": { steps: changed({ successRate: 1 }), evaluations: [evaluation(2, 0.5)] },
  "masked-trajectories": { steps: changed({ masked: 14 }) },
  "zero-gradient": { steps: changed({ gradientNorm: 0 }) },
  "exploding-gradient": { steps: changed({ gradientNorm: Number.POSITIVE_INFINITY }) },
  "learning-rate-high": { steps: changed({ approximateKl: 0.9 }) },
  "learning-rate-low": { steps: changed({ kl: 1e-12, approximateKl: 1e-13 }) },
  "strong-kl-penalty": {
    steps: changed({ kl: 1e-4 }),
    plan: planWith((plan) => {
      plan.trainer.config.klCoefficient = 20;
    }),
  },
  "entropy-growth": {
    steps: changed((step) => ({ entropy: step === 1 ? 0.3 : 1.2, rewardMean: 0.4, successRate: 0.4 })),
  },
  "kl-growth": { steps: changed({ kl: 3 }) },
  "entropy-collapse": { steps: changed({ entropy: 0.001, successRate: 0.3 }) },
  "dead-value-head": { steps: changed({ valueLoss: 0.25 }), plan: ppo },
  "sampler-gap": { steps: changed({ logprobGapMean: 0.2 }) },
  "stale-actions": { steps: changed({ staleness: 8, stalenessMean: 5 }) },
  "skipped-updates": { steps: changed({ skippedUpdates: 4 }) },
  overfitting: {
    steps: steps.map((step) => ({ ...onExamples(step, 2 - 0.4 * step), heldOutLoss: 2 + 0.2 * step })),
  },
};

const names = (one: Case) =>
  diagnoseRun({ plan: planWith(), evaluations: [], ...one }).map(({ condition }) => condition);

describe("each condition is found within three steps, and nothing else is", () => {
  test.each(Object.entries(cases))("%s", (name, one) => {
    expect(names(one)).toEqual([name]);
  });
});

test("the loss on examples shows a learning rate that is too high or too low", () => {
  expect(names({ steps: steps.map((step) => onExamples(step, 2 * step)) })).toEqual(["learning-rate-high"]);
  expect(names({ steps: steps.map((step) => onExamples(step, 2)) })).toEqual(["learning-rate-low"]);
  expect(names({ steps: steps.map((step) => onExamples(step, 2 / step)) })).toEqual([]);
});

test("a reward that falls by chance, on few tasks, is not a collapse", () => {
  const rewards = [0.1, 0.344, 0.14, 0.156];
  const few = rewards.map((rewardMean, index) => ({
    ...healthy(index + 1),
    rewardMean,
    successRate: rewardMean,
    rewardSpreadBetween: 0.33,
  }));
  expect(names({ steps: few })).toEqual([]);
  const many = few.map((record) => ({ ...record, trajectories: 1024 }));
  expect(names({ steps: many })).toEqual(["reward-collapse"]);
});

test("a run that learns has no diagnosis", () => {
  const evaluations = [evaluation(0, 0.3), evaluation(1, 0.35), evaluation(2, 0.33), evaluation(3, 0.4)];
  expect(names({ steps: steps.map(healthy), evaluations })).toEqual([]);
  expect(names({ steps: steps.map(healthy), plan: ppo })).toEqual([]);
});

test("short pauses of a host, and those that hardly lengthen a step, are no diagnosis", () => {
  const lasting = (rollout: number) => ({ rollout, train: 1, publish: 0.1, total: rollout + 1.1 });
  expect(names({ steps: changed({ hostPauses: { search: 9 }, seconds: lasting(10) }) })).toEqual([]);
  expect(names({ steps: changed({ hostPauses: { search: 15 }, seconds: lasting(600) }) })).toEqual([]);
});

test("a run that ends with everything solved has no diagnosis", () => {
  const solved = { ...uniform(1), entropy: 0.001, gradientNorm: 0.1 };
  const end = [4, 5, 6].map((step) => ({ ...healthy(step), ...solved }));
  expect(names({ steps: [...steps.map(healthy), ...end], evaluations: [evaluation(6, 0.98)] })).toEqual([]);
});

test("an evaluation before the first step shows that an agent's tools differ, and a policy that solves its tasks may have others", () => {
  const differences = Array.from({ length: 6 }, (_, index) => `the agent offers tool${index}`);
  const early = [evaluation(0, 0.2, { toolDifferences: differences })];
  expect(diagnoseRun({ plan: planWith(), steps: steps.map(healthy), evaluations: early })).toMatchObject([
    {
      condition: "different-tools",
      step: 0,
      evidence: `${differences.slice(0, 4).join("; ")}; and 2 more`,
    },
  ]);
  expect(diagnose({ plan: planWith(), steps: [], evaluations: early })).toHaveLength(1);
  const solved = [evaluation(0, 0.95, { toolDifferences: differences })];
  expect(diagnose({ plan: planWith(), steps: [], evaluations: solved })).toEqual([]);
});

test("few trajectories that read the right answer show nothing", () => {
  const missed = { shownAnswerShare: 0.6, givenAnswerShare: 0 };
  expect(names({ steps: changed(missed) })).toEqual([]); // 19 in two steps
  expect(names({ steps: changed({ ...missed, trajectories: 32 }) })).toEqual(["missed-answers"]);
  const rising = changed((step) => ({ shownAnswerShare: 0.9, givenAnswerShare: 0.2 * step }));
  expect(names({ steps: rising })).toEqual([]); // 30 % of the first two steps
});

test("groups are not compared by algorithms that do not compare them", () => {
  const groups = changed({ uniformGroupShare: 1, zeroGroupShare: 0.5, oneGroupShare: 0.5 });
  expect(names({ steps: groups, plan: ppo })).toEqual([]);
});

test("a condition is reported once, where it first held, with its numbers", () => {
  const many = [
    ...steps.map(healthy),
    ...[4, 5, 6].map((step) => ({ ...healthy(step), cutActionShare: 0.5 })),
  ];
  const plan = planWith();
  expect(diagnoseRun({ plan, steps: many, evaluations: [] })).toMatchObject([
    { condition: "cut-actions", step: 5, evidence: expect.stringContaining("50 % of the actions were cut") },
  ]);
  expect(diagnose({ plan, steps: [], evaluations: [] })).toEqual([]);
});
