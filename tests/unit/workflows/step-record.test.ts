import { expect, test } from "vitest";
import stepRecordSchema from "../../../schemas/step-record.schema.json" with { type: "json" };
import type { StepInput } from "../../../src/contracts/run.ts";
import type { TrajectoryResult } from "../../../src/contracts/trajectory.ts";
import { createAjv } from "../../../src/validation/ajv.ts";
import { stepRecord } from "../../../workflows/step-record.ts";

const queues = { orchestration: "orchestration", policy: "policy", tools: "tools", trainer: "trainer" };
const settings = {
  ...{ seed: 1, steps: 9, warmStartSteps: 0, batchSize: 4, groupSize: 1, concurrency: 4 },
  ...{ sampling: { temperature: 1, maxTokens: 8 }, evaluationEvery: 0, evaluationTasks: 1, tools: [] },
  loop: { plugin: "loop-tool-agent", config: {} },
};
const input: StepInput = { run: "run", step: 3, policyVersion: 5, settings, queues };
const metrics = {
  ...{ kl: 0.1, approximateKl: 0.01, entropy: 0.5, clipFraction: 0.1, policyLoss: 0.2, valueLoss: 0.3 },
  ...{ gradientNorm: 1, learningRate: 1e-4, logprobGap: 0 },
};
const trained = { policyVersion: 6, metrics, seconds: 2 };

function result(changes: Partial<TrajectoryResult>): TrajectoryResult {
  return {
    ...{ trajectory: "run/step-0003/task-00000/0", task: "1 + 1", outcome: "answered", reward: 0 },
    ...{ success: false, turns: [], head: "a", policyVersion: 5, toolCalls: 0, validCalls: 0 },
    ...{ tokens: { prompt: 10, action: 4, observation: 0 }, generationSeconds: 0.1 },
    ...changes,
  };
}

const turn = { action: "2", toolCalls: [] };
const results = [
  result({ reward: 1, success: true, toolCalls: 2, validCalls: 1, turns: [turn, turn], policyVersion: 4 }),
  result({ reward: 0.5, tokens: { prompt: 12, action: 8, observation: 3 }, turns: [turn] }),
  result({
    outcome: "left-out",
    reward: 9,
    toolCalls: 5,
    tokens: { prompt: 99, action: 99, observation: 99 },
  }),
];

test("means are over what finished; a trajectory left out is only counted", () => {
  const record = stepRecord(
    input,
    { results, batch: results.slice(0, 2) },
    trained,
    [1000, 3500, 5500, 5750],
  );
  expect(record).toMatchObject({
    ...{ step: 3, policyVersion: 6, staleness: 1, trajectories: 2, leftOut: 1 },
    ...{ rewardMean: 0.75, successRate: 0.5, toolCallRate: 0.5, validCallRate: 0.5, turns: 1.5 },
    ...{ tokens: { prompt: 22, action: 12, observation: 3 }, actionLength: 6, kl: 0.1 },
    seconds: { rollout: 2.5, train: 2, publish: 0.25, total: 4.75 },
  });
  const validate = createAjv().compile(stepRecordSchema);
  expect(validate(record), JSON.stringify(validate.errors)).toBe(true);
});

test("without a tool call none was wrong", () => {
  const sampled = { results: results.slice(1), batch: results.slice(1, 2) };
  expect(stepRecord(input, sampled, trained, [0, 1, 2, 3]).validCallRate).toBe(1);
});

test("groups without variance count in the means, but not among the trajectories trained on", () => {
  const sampled = { results, batch: results.slice(0, 1), groupsLeftOut: 1 };
  const record = stepRecord(input, sampled, trained, [0, 1, 2, 3]);
  expect(record).toMatchObject({ trajectories: 1, leftOut: 1, groupsLeftOut: 1, rewardMean: 0.75 });
});
