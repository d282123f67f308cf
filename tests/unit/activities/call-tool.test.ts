import { MockActivityEnvironment } from "@temporalio/testing";
import { expect, test } from "vitest";
import { callTool } from "../../../activities/call-tool.ts";
import type { CallToolInput, CallToolResult } from "../../../src/contracts/activities.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { ToolPlugin } from "../../../src/contracts/tool.ts";
import { argumentsValidator } from "../../../src/plugins/validate-arguments.ts";
import { createRun } from "../../../src/runs/create-run.ts";
import { toolWorker } from "../../../src/temporal/tool-worker.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const run = await createRun(plan, runs, undefined, false);
const validate = argumentsValidator({
  type: "object",
  required: ["expression"],
  properties: { expression: { type: "string" } },
});

/** The activity's result for a call of `execute`, as attempt 2. */
function call(
  task: string,
  execute: ToolPlugin<unknown>["execute"],
  parameters: JsonObject = { expression: "1 + 2" },
): Promise<CallToolResult> {
  const stage = "step-0001";
  const input: CallToolInput = {
    place: { id: `${run}/${stage}/${task}/0`, run, stage, step: 1, task, sample: 0 },
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    ...{ turn: 1, call: 0, arguments: parameters },
  };
  const worker = {
    ...toolWorker(runs),
    tool: async () => ({ plugin: { execute }, config: { digits: 3 }, validate }),
  };
  const environment = new MockActivityEnvironment({ attempt: 2 });
  return environment.run(() => callTool(worker, "calculator")(input, new AbortController().signal));
}

test("the tool gets the call's key, which is the same in each attempt, and its configuration", async () => {
  const result = await call("task-00000", (parameters, { key, attempt, config }) => ({
    text: JSON.stringify([parameters, key, attempt, config]),
    reward: 0.5,
  }));
  const key = `${run}/step-0001/task-00000/0/1/0`;
  expect(result).toMatchObject({ valid: true, reward: 0.5, attempts: 2 });
  expect(JSON.parse(result.observation)).toEqual([{ expression: "1 + 2" }, key, 2, { digits: 3 }]);
});

test("a call whose result was recorded is not made again", async () => {
  const first = await call("task-00001", () => ({ text: "3" }));
  const again = call("task-00001", () => {
    throw new Error("called twice");
  });
  expect(await again).toEqual(first);
});

test("arguments that break the schema never reach the tool: the model is told what is wrong", async () => {
  let called = false;
  const execute = () => {
    called = true;
    return { text: "" };
  };
  const result = await call("task-00002", execute, { expression: 3 });
  expect(result).toMatchObject({ valid: false, observation: "error: expression must be text, but is 3." });
  expect(called).toBe(false);
});

test("a tool that throws is a failure of infrastructure, to be tried again", async () => {
  const failing = call("task-00003", () => {
    throw new Error("the host is down");
  });
  await expect(failing).rejects.toMatchObject({ code: "TOOL_FAILED", retryable: true });
  expect(await call("task-00003", () => ({ text: "3" }))).toMatchObject({ observation: "3" });
});

test("an answer without end is cut, and says so", async () => {
  const { observation } = await call("task-00004", () => ({ text: "x".repeat(10_000) }));
  expect(observation).toBe(`${"x".repeat(8000)}\n[2000 characters cut]`);
});
