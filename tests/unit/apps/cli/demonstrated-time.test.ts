import { expect, test } from "vitest";
import { demonstratedTime } from "../../../../src/apps/cli/views/demonstrated-time.ts";
import type { Plan } from "../../../../src/contracts/plan.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 4, warmStart: true, evaluationEvery: 0 });
const [calculator] = plan.tools;

/** The plan, with demonstrations that call the calculator twice, and its processor time. */
function calling(cpuTime: string, changes: Partial<Plan> = {}): Plan {
  const { manifest } = calculator!;
  const tool = { ...calculator!, manifest: { ...manifest, tool: { ...manifest.tool!, cpuTime } } };
  return { ...plan, tools: [tool], demonstratedCalls: { calculator: 2 }, ...changes };
}

test("each call takes a turn and its tool's processor time, divided among the cores", () => {
  expect(demonstratedTime(calling("85ms"), 1)).toEqual({ seconds: 0.2, isGuess: false });
  expect(demonstratedTime(calling("85ms"), 4)).toEqual({ seconds: 0.05, isGuess: false });
});

test("no more cores count than trajectories run at once", () => {
  const rollout = { ...plan.rollout, concurrency: 2 };
  expect(demonstratedTime(calling("85ms", { rollout }), 16).seconds).toBe(0.1);
});

test("calls of tools without a processor time, and of an agent's own tools, are a guess", () => {
  const counts = { calculator: 2 };
  expect(demonstratedTime({ ...plan, demonstratedCalls: counts }, 1)).toEqual({
    seconds: 0.03,
    isGuess: true,
  });
  expect(demonstratedTime(calling("1ms", { demonstratedCalls: { weather: 1 } }), 1).isGuess).toBe(true);
  expect(demonstratedTime(plan, 1)).toEqual({ seconds: 0, isGuess: true });
});
