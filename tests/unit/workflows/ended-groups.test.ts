import { expect, test } from "vitest";
import type { TrajectorySummary } from "../../../src/contracts/rollout.ts";
import { reasonToReplace } from "../../../workflows/ended-groups.ts";

const settings = {
  seed: 1,
  steps: 9,
  warmStartSteps: 0,
  batchSize: 4,
  groupSize: 2,
  concurrency: 4,
  sampling: { temperature: 1, maxTokens: 8 },
  evaluationEvery: 0,
  evaluationTasks: 1,
  tools: [],
  staleness: 0,
  minGroup: 0,
  maxInfrastructureFailures: 1,
  limits: {},
  reward: {
    retry: { maximumAttempts: 1, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 },
    pure: true,
  },
  loop: { plugin: "loop-tool-agent", config: {} },
  dynamicSampling: { maxRounds: 2 },
};

function reasonFor(...members: Partial<TrajectorySummary>[]) {
  const results = members.map(
    (changes): TrajectorySummary => ({
      trajectory: "run/step-0001/task-00000/0",
      outcome: "answered",
      reward: 1,
      success: true,
      turns: 2,
      head: "a",
      policyVersion: 1,
      newestPolicyVersion: 1,
      generationSeconds: 0.1,
      tokens: { prompt: 10, action: 4, observation: 0 },
      toolCalls: 0,
      validCalls: 0,
      ...changes,
    }),
  );
  return reasonToReplace({ group: "a", results }, settings);
}

test("dynamic sampling replaces groups that all earned the same", () => {
  expect(reasonFor({}, {})).toBe("uniform");
  expect(reasonFor({}, { reward: 0 })).toBeUndefined();
});

test("where the trainer compares turns, only those whose turns all earned the same", () => {
  const halves = { turnRewards: { least: 0.5, most: 0.5 } };
  const apart = { turnRewards: { least: 0, most: 1 } };
  expect(reasonFor(halves, halves)).toBe("uniform");
  expect(reasonFor({ ...halves, reward: 0.5, turns: 1 }, halves), "of other lengths").toBe("uniform");
  expect(reasonFor(apart, apart)).toBeUndefined();
  expect(reasonFor(halves, apart)).toBeUndefined();
});
