import { expect, test } from "vitest";
import type { TrajectoryResult } from "../../../src/contracts/trajectory.ts";
import { resultSummary } from "../../../src/run/projections/trajectory-summary.ts";
import { failuresByReason, tooManyFailures } from "../../../workflows/failure-share.ts";
import { endOfRun } from "../../../workflows/plugin-mistake.ts";

/** The summary of a trajectory that was left out. */
function leftOut(given: Pick<TrajectoryResult, "failure" | "mistake">, sample = 0) {
  return resultSummary({
    trajectory: `run/step-0001/task-00000/${sample}`,
    outcome: "left-out",
    reward: 0,
    success: false,
    head: null,
    tokens: { prompt: 0, action: 0, observation: 0 },
    toolCalls: 0,
    validCalls: 0,
    policyVersion: 1,
    newestPolicyVersion: 1,
    generationSeconds: 0,
    turnCount: 0,
    turns: [],
    task: "a task",
    ...given,
  });
}

const step = { run: "run", step: 1 };

test("a reason of several sentences is whole in a step's record and in the error that ends the run", () => {
  const reason = `search: ${"the index is being built. ".repeat(30)}`.trim();
  expect(reason.length).toBeGreaterThan(700);
  const results = [leftOut({ failure: reason }), leftOut({ failure: reason }, 1)];
  expect(failuresByReason(results)).toEqual([[reason, 2]]);
  expect(tooManyFailures(step, results, 0.5)?.message).toContain(reason.replace(/\.$/, ""));
});

test("an error whose reason is longer than a summary keeps names the command that prints all of it", () => {
  const text = "x".repeat(5_000);
  const failed = tooManyFailures(step, [leftOut({ failure: text })], 0.5);
  expect(failed?.message).toContain(
    "x… (`npx everturn show run/step-0001/task-00000/0` prints all of it). Fix the cause",
  );
  const ended = endOfRun(leftOut({ mistake: { code: "PLUGIN_BROKEN", message: text } }));
  expect(ended?.message).toMatch(
    /x… \(`npx everturn show run\/step-0001\/task-00000\/0` prints all of it\)$/,
  );
  expect(endOfRun(leftOut({ mistake: { code: "PLUGIN_BROKEN", message: "short" } }))?.message).toBe("short");
});
