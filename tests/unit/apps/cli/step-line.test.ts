import { expect, test } from "vitest";
import { stepLine } from "../../../../src/apps/cli/views/progress-text.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";

const record: StepRecord = {
  step: 2,
  policyVersion: 3,
  staleness: 0,
  trajectories: 32,
  trajectoriesSoFar: 64,
  leftOut: 0,
  rewardMean: 0.25,
  successRate: 0.25,
  toolCallRate: 0.5,
  validCallRate: 1,
  unreadableCallRate: 0,
  cutActionShare: 0,
  uniformGroupShare: 0,
  zeroGroupShare: 0,
  oneGroupShare: 0,
  rewardSpreadWithin: 0.3,
  rewardSpreadBetween: 0.1,
  entropy: 0.42,
  clipFraction: 0.031,
  gradientNorm: 1.25,
  learningRate: 1e-4,
  tokens: { prompt: 1, action: 1, observation: 1 },
  seconds: { rollout: 2, train: 2, publish: 0.1, total: 4.1 },
};

test("a step's line shows how much its rewards could teach", () => {
  expect(stepLine(record, 40)).toBe(
    "step 2/40  reward 0.25  success 25 %  tool calls 50 %  spread 0.30 in groups, 0.10 between  " +
      "uniform 0 %  entropy 0.42  gradient 1.25  clipped 3 %  4.1 s",
  );
});

test("it names the rewards of uniform groups, cut actions and unreadable calls where there are any", () => {
  const line = stepLine(
    {
      ...record,
      uniformGroupShare: 0.75,
      zeroGroupShare: 0.5,
      oneGroupShare: 0.125,
      unreadableCallRate: 0.2,
      cutActionShare: 0.1,
    },
    40,
  );
  expect(line).toContain("uniform 75 % (50 % at 0, 13 % at 1)");
  expect(line).toContain("tool calls 50 %  unreadable 20 %  cut 10 %");
});

test("it contains the whole reason for which most of its trajectories were left out", () => {
  const reason = "search: TOOL_TIMED_OUT: the tool search did not answer within 10 s, five times in a row";
  const line = stepLine({ ...record, leftOut: 3, leftOutReasons: { [reason]: 2, another: 1 } }, 40);
  expect(line).toContain(`left out 3 (${reason})`);
});
