import { MockActivityEnvironment } from "@temporalio/testing";
import { expect, test, vi } from "vitest";
import { callTool } from "../../../activities/call-tool.ts";
import type { CallToolInput, CallToolResult } from "../../../src/contracts/activities.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { HostSettings, ResolvedTool } from "../../../src/contracts/plan.ts";
import type { ToolPlugin } from "../../../src/contracts/tool.ts";
import { settingsOfHost } from "../../../src/pipeline/host-settings.ts";
import { createRun } from "../../../src/runs/create-run.ts";
import { toolWorker } from "../../../src/temporal/tool-worker.ts";
import { createHost } from "../../../src/tools/host.ts";
import { type OpenTool, openTool } from "../../../src/tools/open-tool.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const run = await createRun(plan, runs, undefined, false);
const [tool] = plan.tools;
if (tool?.manifest.tool === undefined) throw new Error("the sample plan has no tool");
const { manifest } = tool;

/** The activity's result for a call of `execute`, as attempt 2. */
function call(
  task: string,
  execute: ToolPlugin<unknown>["execute"],
  parameters: JsonObject = { expression: "1 + 2" },
  options: Partial<ResolvedTool> = {},
  { signal } = new AbortController(),
): Promise<CallToolResult> {
  return callOn(open({ execute }, options), task, parameters, signal);
}

/** The tool as a worker of its own has it. */
function open(
  plugin: ToolPlugin<unknown>,
  options: Partial<ResolvedTool> = {},
  settings: Partial<HostSettings> = {},
): OpenTool {
  const resolved = { ...tool, ...options, manifest, config: { digits: 3 } };
  const host = createHost("calculator", { ...settingsOfHost(plan, "calculator"), ...settings }, () => {});
  return openTool(resolved, plugin, host);
}

function callOn(
  opened: OpenTool,
  task: string,
  parameters: JsonObject = { expression: "1 + 2" },
  signal = new AbortController().signal,
): Promise<CallToolResult> {
  const stage = "step-0001";
  const input: CallToolInput = {
    place: { id: `${run}/${stage}/${task}/0`, run, stage, step: 1, task, sample: 0 },
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    ...{ turn: 1, call: 0, arguments: parameters },
  };
  const worker = { ...toolWorker(runs, run), tool: async () => opened };
  const environment = new MockActivityEnvironment({ attempt: 2 });
  return environment.run(() => callTool(worker, "calculator")(input, signal, () => {}));
}

test("the tool gets the call's key, which is the same in each attempt, and its configuration", async () => {
  const result = await call("task-00000", (parameters, { key, attempt, config }) => ({
    text: JSON.stringify([parameters, key, attempt, config]),
    reward: 0.5,
  }));
  const key = `${run}/step-0001/task-00000/0/1/0`;
  expect(result).toMatchObject({ valid: true, reward: 0.5, attempts: 1 });
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

test("a tool that ignores its signal does not hold its call for longer than the time-out", async () => {
  let aborted: unknown;
  const hanging = call(
    "task-00005",
    (_, { signal }) => {
      signal.addEventListener("abort", () => (aborted = signal.reason));
      return new Promise(() => {});
    },
    { expression: "1" },
    { timeout: 50 },
  );
  await expect(hanging).rejects.toMatchObject({ code: "TOOL_TIMED_OUT", retryable: true });
  expect(aborted).toMatchObject({ code: "TOOL_TIMED_OUT" });
});

test("a tool's attempts are counted by its failures, over all workers; when they are spent the call ends", async () => {
  const retry = { maximumAttempts: 3, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 };
  const failing = () =>
    call("task-00006", () => Promise.reject(new Error("the host is down")), { expression: "1" }, { retry });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_FAILED" });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_FAILED" });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_GAVE_UP", retryable: false });
  const begunAgain = call("task-00006", () => ({ text: "3" }), { expression: "1" }, { retry });
  expect(await begunAgain).toMatchObject({ observation: "3", attempts: 1 });
});

test("a cancelled call stops its tool, and costs it no attempt", async () => {
  const controller = new AbortController();
  let stopped = false;
  const stopping = call(
    "task-00007",
    (_, { signal }) => {
      signal.addEventListener("abort", () => (stopped = true));
      controller.abort(new Error("cancelled"));
      return new Promise(() => {});
    },
    { expression: "1" },
    {},
    controller,
  );
  await expect(stopping).rejects.toThrow("cancelled");
  expect(stopped).toBe(true);
  expect(await call("task-00007", () => ({ text: "3" }))).toMatchObject({ attempts: 1 });
});

/** A tool that notes its calls and answers when told to. */
function slowTool() {
  const calls: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const execute: ToolPlugin<unknown>["execute"] = async (_, { instance }) => {
    calls.push(instance);
    await answered;
    return { text: "here" };
  };
  return { calls, answer: () => answer(), execute };
}

const elsewhere = () => open({ execute: () => ({ text: "elsewhere" }) });

test("a call that waits for a slot while another worker records it is not made", async () => {
  const { calls, answer, execute } = slowTool();
  const one = open({ execute }, { concurrency: 1 });
  const first = callOn(one, "task-00008");
  await vi.waitUntil(() => calls.length === 1);
  const waiting = callOn(one, "task-00009");
  expect(await callOn(elsewhere(), "task-00009")).toMatchObject({ observation: "elsewhere" });
  answer();
  await first;
  expect(await waiting).toMatchObject({ observation: "elsewhere", attempts: 1 });
  expect(calls, "executed again after the record").toHaveLength(1);
});

test("a call that waits for its paused host while another worker records it is not made", async () => {
  const calls: string[] = [];
  const execute: ToolPlugin<unknown>["execute"] = (_, { instance }) => {
    calls.push(instance);
    if (calls.length === 1) throw new Error("the host is down");
    return { text: "here" };
  };
  const one = open({ execute }, {}, { failures: 1, pause: 100 });
  await expect(callOn(one, "task-00010")).rejects.toMatchObject({ code: "TOOL_FAILED" });
  const waiting = callOn(one, "task-00011");
  await callOn(elsewhere(), "task-00011");
  expect(await waiting).toMatchObject({ observation: "elsewhere" });
  expect(calls, "executed again after the record").toHaveLength(1);
  expect(await callOn(one, "task-00010"), "the host is asked by the next call").toMatchObject({
    observation: "here",
  });
});

test("a call that waits for its trajectory's instance while another worker records it is not made, and the instance is let go", async () => {
  const calls: string[] = [];
  const released: unknown[] = [];
  let create = () => {};
  const created = new Promise<void>((resolve) => (create = resolve));
  const one = open({
    create: async () => {
      calls.push("created");
      await created;
      return "state";
    },
    execute: () => {
      calls.push("executed");
      return { text: "here" };
    },
    release: (state) => void released.push(state),
  });
  const waiting = callOn(one, "task-00012");
  await vi.waitUntil(() => calls.length === 1);
  await callOn(elsewhere(), "task-00012");
  create();
  expect(await waiting).toMatchObject({ observation: "elsewhere" });
  expect(calls).toEqual(["created"]);
  expect(released, "its state lacks the call").toEqual(["state"]);
});
