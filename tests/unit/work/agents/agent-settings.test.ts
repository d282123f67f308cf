import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import { overload } from "../../../../src/results/diagnosis/conditions/infrastructure.ts";
import { agentSettings } from "../../../../src/work/agents/agent-settings.ts";
import { outOfTime } from "../../../../src/work/agents/out-of-time.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 1, warmStart: false, evaluationEvery: 1 });
const cores = availableParallelism();

function concurrencyOf(config: JsonObject, trajectories: number): number {
  return agentSettings("agent", { module: "agent.ts", ...config }, {}, trajectories).concurrency;
}

test("without a number, processes follow the cores, and threads the concurrency of the rollout", () => {
  expect(concurrencyOf({}, 10_000)).toBe(4 * cores);
  expect(concurrencyOf({ mode: "pool" }, 10_000)).toBe(4 * cores);
  expect(concurrencyOf({ mode: "thread" }, 10_000)).toBe(10_000);
});

test("agents follow the rollout's concurrency where it is the lower limit", () => {
  expect(concurrencyOf({}, 3)).toBe(3);
  expect(concurrencyOf({ mode: "thread", concurrency: 16 }, 64)).toBe(16);
  expect(concurrencyOf({ mode: "thread", concurrency: 16 }, 8)).toBe(8);
});

test("an agent that exceeds its time on a busy machine or policy fails because of overload, and the diagnosis says so", () => {
  const said = "; its last output: step 3";
  const alone = outOfTime({ limit: 60, waited: 10, load: 0.5, said });
  expect(alone).toBe("it took longer than 60 s; its last output: step 3");
  const machine = outOfTime({ limit: 60, waited: 10, load: 11, said });
  const policy = outOfTime({ limit: 60, waited: 50, load: 0.5, said });
  for (const [reason, isNamed] of [
    [alone, false],
    [machine, true],
    [policy, true],
  ] as const) {
    expect(reason.includes("overload")).toBe(isNamed);
    expect(isDiagnosed(`The agent a failed 3 times. The last error: ${reason}.`), reason).toBe(isNamed);
  }
});

function isDiagnosed(reason: string): boolean {
  const step: StepRecord = {
    step: 1,
    policyVersion: 1,
    staleness: 0,
    trajectories: 4,
    trajectoriesSoFar: 4,
    leftOut: 4,
    leftOutReasons: { [reason]: 4 },
    gradientNorm: 1,
    learningRate: 1e-4,
    tokens: { prompt: 1, action: 1, observation: 1 },
    seconds: { rollout: 1, train: 1, publish: 1, total: 2 },
  };
  return overload.find({ plan, steps: [step], evaluations: [] }) !== undefined;
}
