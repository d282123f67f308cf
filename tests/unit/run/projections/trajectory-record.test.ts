import { expect, test } from "vitest";
import taskSchema from "../../../../schemas/task.schema.json" with { type: "json" };
import trajectorySchema from "../../../../schemas/trajectory.schema.json" with { type: "json" };
import { createAjv } from "../../../../src/base/validation/ajv.ts";
import { trajectoryRecord } from "../../../../src/run/projections/trajectory-record.ts";

const input = {
  place: {
    id: "r/step-0002/task-00007/1",
    run: "r",
    stage: "step-0002",
    step: 2,
    task: "task-00007",
    sample: 1,
  },
  task: {
    data_source: "test",
    prompt: [{ role: "user" as const, content: "1 + 1 =" }],
    reward_model: { ground_truth: "2" },
  },
  head: "a".repeat(64),
  tokens: { prompt: 3, action: 4, observation: 2 },
  startedAt: Date.UTC(2026, 0, 2),
};

const turns = [
  { action: "call", toolCalls: [] },
  { action: "2", toolCalls: [] },
];

test("says where the trajectory belongs, what sampled each turn, and how it ended; as its schema says", () => {
  const record = trajectoryRecord(
    input,
    { turns, policyVersions: [4, 5], turnRewards: [0.5, 0] },
    { outcome: "answered", answer: "2", reward: 1, success: true },
  );
  expect(record).toMatchObject({
    id: "r/step-0002/task-00007/1",
    run: "r",
    stage: "step-0002",
    step: 2,
    taskId: "task-00007",
    sample: 1,
    policyVersions: [4, 5],
    turnRewards: [0.5, 0],
    outcome: "answered",
    answer: "2",
    reward: 1,
    success: true,
    startedAt: "2026-01-02T00:00:00.000Z",
  });
  const validate = createAjv().addSchema(taskSchema).compile(trajectorySchema);
  expect(validate(record), JSON.stringify(validate.errors)).toBe(true);
  const leftOut = trajectoryRecord(
    { ...input, head: null },
    { turns: [], policyVersions: [] },
    { outcome: "left-out", reward: 0, success: false, failure: "calculator: the host is down" },
  );
  expect(validate(leftOut), JSON.stringify(validate.errors)).toBe(true);
});
