import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallToolInput, GenerateTurnInput, RecordLeftOutInput } from "../../src/contracts/activities.ts";
import type { ToolBinding, TrajectoryInput, TrajectoryResult } from "../../src/contracts/trajectory.ts";
import { type DevServer, startDevServer } from "../../src/temporal/dev-server.ts";
import { registerSearchAttributes } from "../../src/temporal/search-attributes.ts";
import { findServerBinary } from "../../src/temporal/server-binary.ts";
import { bundleWorkflows } from "../../src/temporal/workflow-bundle.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const queue = "trajectories";
const calculator: ToolBinding = {
  definition: { name: "calculator", description: "Evaluates.", parameters: {} },
  retry: { maximumAttempts: 1, initialInterval: 100, backoffCoefficient: 1, maximumInterval: 100 },
  ...{ timeout: 5000, stateful: true },
};

/** What the policy writes, turn by turn; told by the task's prompt. */
const actions: Record<string, string[]> = {
  parallel: [
    '<tool_call>{"name": "calculator", "arguments": {"expression": "slow"}}</tool_call>' +
      "<tool_call>calculator(1)</tool_call>" +
      '<tool_call>{"name": "no such tool", "arguments": {}}</tool_call>' +
      '<tool_call>{"name": "calculator", "arguments": {"expression": "fast"}}</tool_call>',
    "Answer: 3",
  ],
  throwing: ["throw"],
};

let server: DevServer;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let worker: Worker;
let ended: Promise<void>;
const leftOut: string[] = [];

const activities = {
  "generate-turn": async ({ messages, turn, place }: GenerateTurnInput) => ({
    ...{
      action: actions[place.task]?.[turn - 1],
      finishReason: "stop",
      head: "a".repeat(64),
      policyVersion: 0,
    },
    ...{ tokens: { prompt: messages.length, action: 1, observation: 0 }, seconds: 0 },
  }),
  calculator: async (input: CallToolInput) => {
    const expression = typeof input.arguments === "object" ? input.arguments.expression : "";
    if (expression === "slow") await new Promise((resolve) => setTimeout(resolve, 500));
    return { observation: `${expression} ${input.call}`, valid: true, reward: 0, attempts: 1, seconds: 0 };
  },
  "score-trajectory": async () => ({ reward: 1, success: true }),
  "record-left-out": async ({ failure }: RecordLeftOutInput) => void leftOut.push(failure),
  "release-tools": async () => {
    throw ApplicationFailure.nonRetryable("the sandbox does not answer", "Sandbox");
  },
};

beforeAll(async () => {
  const loop = join(folder, "loop.ts");
  const toolAgent = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  writeFileSync(
    loop,
    `import toolAgent from ${JSON.stringify(toolAgent)};
export default (context) => {
  if (context.task.prompt[0].content === "throwing") throw new TypeError("the loop is wrong");
  return toolAgent(context);
};`,
  );
  const bundle = join(folder, "workflows.js");
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  [server] = await Promise.all([
    startDevServer({ binary: await findServerBinary(), ...paths }),
    bundleWorkflows(bundle, { name: "loop-test", workflow: loop }, false),
  ]);
  const { address } = server;
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
  await registerSearchAttributes(connection, { address, namespace: "default", isOwn: true });
  client = new Client({ connection });
  worker = await Worker.create({
    ...{ connection: native, taskQueue: queue, activities },
    workflowBundle: { codePath: bundle },
  });
  ended = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await ended;
  await native.close();
  await connection.close();
  await server.stop();
});

function run(task: string): Promise<TrajectoryResult> {
  const place = { id: `run/step-0001/${task}/0`, run: "run", stage: "step-0001", step: 1, task, sample: 0 };
  const input: TrajectoryInput = {
    place,
    task: {
      data_source: "test",
      prompt: [{ role: "user", content: task }],
      reward_model: { ground_truth: "3" },
    },
    ...{ policyVersion: 0, seed: 1, sampling: { temperature: 1, maxTokens: 8 } },
    loop: { plugin: "loop-test", config: { maxTurns: 3 } },
    ...{ tools: [calculator], queues: { orchestration: queue, policy: queue, tools: queue, trainer: queue } },
  };
  return client.workflow.execute("trajectory", { workflowId: place.id, taskQueue: queue, args: [input] });
}

test("calls of one action run in parallel and keep their order, those that can't be made included", async () => {
  const result = await run("parallel");
  const calls = result.turns[0]?.toolCalls.map(({ tool, observation }) => `${tool}: ${observation}`);
  expect(calls).toEqual([
    "calculator: slow 0",
    expect.stringContaining(": error: the tool call is not JSON."),
    "no such tool: error: there is no tool no such tool. Available tools: calculator.",
    "calculator: fast 3",
  ]);
  expect(result).toMatchObject({ outcome: "answered", toolCalls: 4, validCalls: 2 });
});

test("a tool that can't be released does not cost the trajectory; names made up are not searched by", async () => {
  const handle = client.workflow.getHandle("run/step-0001/parallel/0");
  expect(await handle.result()).toMatchObject({ outcome: "answered", reward: 1, success: true });
  const { events } = await handle.fetchHistory();
  const released = events?.some(
    (event) => event.activityTaskFailedEventAttributes?.failure?.message === "the sandbox does not answer",
  );
  expect(released).toBe(true);
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes.EverturnTools).toEqual(["calculator"]);
});

test("a loop that throws ends its trajectory as left out, instead of trying for ever", async () => {
  expect(await run("throwing")).toMatchObject({
    outcome: "left-out",
    failure: "loop-test: the loop is wrong",
  });
  expect(leftOut).toEqual(["loop-test: the loop is wrong"]);
});
