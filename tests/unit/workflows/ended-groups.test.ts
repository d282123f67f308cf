import { expect, test } from "vitest";
import type { TrajectorySummary } from "../../../src/contracts/rollout.ts";
import { reasonToReplace } from "../../../workflows/ended-groups.ts";
import { stepSettings } from "../../support/step-settings.ts";

const settings = {
  ...stepSettings,
  batchSize: 4,
  minGroup: 0,
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
