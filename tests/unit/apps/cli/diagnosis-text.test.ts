import { expect, test } from "vitest";
import { diagnosisWriter } from "../../../../src/apps/cli/views/diagnosis-text.ts";
import { conditions } from "../../../../src/results/diagnosis/conditions.ts";

test("the first condition of a step is written with what to try, the others in a line", () => {
  const write = diagnosisWriter();
  const found = (condition: keyof typeof conditions, step: number) =>
    write({ ...conditions[condition], condition, step, evidence: "half of them" });

  const cause = found("cut-actions", 2);
  expect(cause[0]).toBe("diagnosis cut-actions (step 2): Limits cut many actions: half of them.");
  expect(cause.join("\n")).toContain(`Try: ${conditions["cut-actions"].remedies[0]}`);
  expect(cause.at(-1)).toContain("docs/not-learning.md#cut-actions");

  expect(found("never-rewarded", 2)).toEqual([
    "diagnosis never-rewarded (step 2): No trajectory earns a reward: half of them.",
  ]);
  expect(found("different-tools", 0)[0]).toContain("different-tools (before the first step): ");
  expect(found("kl-growth", 3).length).toBeGreaterThan(3);
});
