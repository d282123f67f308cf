import { existsSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect, test, vi } from "vitest";
import { callTool } from "../../../activities/call-tool.ts";
import { EverturnError } from "../../../src/base/errors/everturn-error.ts";
import type { CallToolInput, CallToolResult } from "../../../src/contracts/activities.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { HostSettings, ResolvedTool } from "../../../src/contracts/plan.ts";
import type { ToolPlugin } from "../../../src/contracts/tool.ts";
import { settingsOfHost } from "../../../src/plan/pipeline/resolve/host-settings.ts";
import type { CheckedResponse } from "../../../src/plugin/host/checked-response.ts";
import type { InstanceState } from "../../../src/plugin/host/plugin-thread.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../src/run/folder/open-runs.ts";
import { callKey } from "../../../src/run/store/keys.ts";
import { type OpenTool, openTool } from "../../../src/work/tools/open-tool.ts";
import { createToolHost } from "../../../src/work/tools/tool-host.ts";
import type { ToolThread } from "../../../src/work/tools/tool-thread.ts";
import { toolWorker } from "../../../src/work/workers/tool-worker.ts";
import { png } from "../../support/images.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { threadOf } from "../../support/thread-of.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const run = await createRunFolder(plan, { runs });
const [tool] = plan.tools;
const block = tool?.manifest.tool;
if (tool === undefined || block === undefined) throw new Error("the sample plan has no tool");
const resolved: ResolvedTool = { ...tool, config: { digits: 3 } };

/** The activity's result for a call of a tool whose `execute` has this source, as attempt 2. */
async function call(
  task: string,
  execute: string,
  parameters: JsonObject = { expression: "1 + 2" },
  options: Partial<ResolvedTool> = {},
  { signal } = new AbortController(),
): Promise<CallToolResult> {
  const thread = await threadOf(`{ execute: ${execute} }`, { ...resolved, ...options });
  return callOn(open(thread, options), task, parameters, signal);
}

type InlinePlugin = ToolPlugin<InstanceState | undefined, CheckedResponse>;

/** A tool whose functions are in this thread: it throws what its own thread would. */
const inline = (plugin: InlinePlugin): ToolThread => ({
  plugin,
  isLost: () => false,
  close: async () => {},
});

/** The tool as a worker of its own has it. */
function open(
  thread: ToolThread,
  options: Partial<ResolvedTool> = {},
  settings: Partial<HostSettings> = {},
): OpenTool {
  const host = createToolHost("calculator", { ...settingsOfHost(plan, "calculator"), ...settings }, () => {});
  return openTool({ ...resolved, ...options }, thread, host);
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
    turn: 1,
    call: 0,
    arguments: parameters,
  };
  const worker = { ...toolWorker(runs, run), tool: async () => opened };
  const environment = new MockActivityEnvironment({ attempt: 2 });
  return environment.run(async () => {
    const result = await callTool(worker, "calculator")(input, signal, () => {});
    if (!("observation" in result)) throw new Error("the calculator holds nothing, and asks nobody");
    return result;
  });
}

test("the tool gets the call's key, which is the same in each attempt, and its configuration", async () => {
  const execute = `(parameters, { key, attempt, config }) => ({
    text: JSON.stringify([parameters, key, attempt, config]),
    reward: 0.5,
  })`;
  const result = await call("task-00000", execute);
  const key = `${run}/step-0001/task-00000/0/1/0`;
  expect(result).toMatchObject({ valid: true, reward: 0.5, attempts: 1 });
  expect(JSON.parse(result.observation)).toEqual([{ expression: "1 + 2" }, key, 2, { digits: 3 }]);
});

test("a call whose result was recorded is not made again", async () => {
  const first = await call("task-00001", '() => ({ text: "3" })');
  const again = call("task-00001", '() => { throw new Error("called twice") }');
  expect(await again).toEqual(first);
});

test("arguments that break the schema never reach the tool: the model is told what is wrong", async () => {
  const execute = '() => { throw new Error("called") }';
  const result = await call("task-00002", execute, { expression: 3 });
  expect(result).toMatchObject({ valid: false, observation: "error: expression must be text, but is 3." });
});

test("a tool that throws is a failure of infrastructure, to be tried again", async () => {
  const failing = call("task-00003", '() => { throw new Error("the host is down") }');
  const failed = { code: "TOOL_FAILED", params: { reason: "the host is down" }, retryable: true };
  await expect(failing).rejects.toMatchObject(failed);
  expect(await call("task-00003", '() => ({ text: "3" })')).toMatchObject({ observation: "3" });
});

test("an answer without end is cut, and says so", async () => {
  const { observation } = await call("task-00004", '() => ({ text: "x".repeat(10_000) })');
  expect(observation).toBe(`${"x".repeat(8000)}\n[2000 characters cut]`);
});

test("an observation's images and its whole text are kept by content, and the record names them", async () => {
  const { store } = await openRunFolder(runs, run);
  const bytes = [...png(640, 480)].join();
  const execute = `() => ({ text: "x".repeat(20) + "y", content: [{ type: "image", data: new Uint8Array([${bytes}]) }], done: true })`;
  const observations = { characters: 4, cut: "start" } as const;
  const result = await call("task-00030", execute, { expression: "1" }, { observations });
  const whole = `${"x".repeat(20)}y\n[image 1: 640×480 png]`;
  expect(result).toMatchObject({ observation: `[${whole.length - 4} characters cut]\npng]`, done: true });
  const recorded = await store.read(callKey({ stage: "step-0001", task: "task-00030", sample: 0 }, 1, 0));
  const [frame] = recorded?.media?.[0]?.frames ?? [];
  expect(frame).toMatchObject({ mediaType: "image/png", bytes: 33, width: 640, height: 480 });
  expect(await store.readBytes(frame?.sha256 ?? "")).toEqual(Buffer.from(png(640, 480)));
  expect(String(await store.readBytes(recorded?.whole ?? ""))).toBe(whole);
});

test("a call that the tool finds invalid counts as such, with the reason, and was made", async () => {
  const result = await call("task-00031", '() => ({ invalid: "the cell is taken", reward: -1 })');
  expect(result).toMatchObject({
    observation: "error: the cell is taken",
    valid: false,
    invalid: "the cell is taken",
    reward: -1,
  });
  const again = await call("task-00031", '() => { throw new Error("called twice") }');
  expect(again).toEqual(result);
});

test("a tool that ignores its signal does not hold its call for longer than the time-out", async () => {
  const log = join(runs, "aborted");
  const execute = `(_, { signal }) => {
    signal.addEventListener("abort", () => process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(log)}, signal.reason.code));
    return new Promise(() => {});
  }`;
  const hanging = call("task-00005", execute, { expression: "1" }, { timeout: 50 });
  await expect(hanging).rejects.toMatchObject({ code: "TOOL_TIMED_OUT", retryable: true });
  const written = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  expect(await vi.waitUntil(written, { timeout: 100_000 })).toBe("TOOL_TIMED_OUT");
});

test("a call whose record was cut is told, and made again", async () => {
  await call("task-00020", '() => ({ text: "3" })');
  const { stage, task, sample } = { stage: "step-0001", task: "task-00020", sample: 0 };
  truncateSync(join(runs, run, callKey({ stage, task, sample }, 1, 0).path), 40);
  expect(await call("task-00020", '() => ({ text: "4" })')).toMatchObject({ observation: "4" });
});

test("a tool's attempts are counted by its failures, over all workers; when they are spent the call ends", async () => {
  const retry = { maximumAttempts: 3, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 };
  const execute = '() => Promise.reject(new Error("the host is down"))';
  const failing = () => call("task-00006", execute, { expression: "1" }, { retry });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_FAILED" });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_FAILED" });
  await expect(failing()).rejects.toMatchObject({ code: "TOOL_GAVE_UP", retryable: false });
  const begunAgain = call("task-00006", '() => ({ text: "3" })', { expression: "1" }, { retry });
  expect(await begunAgain).toMatchObject({ observation: "3", attempts: 1 });
});

test("a cancelled call stops its tool, and costs it no attempt", async () => {
  const controller = new AbortController();
  const log = join(runs, "cancelled");
  const execute = `(_, { signal }) => {
    const { appendFileSync } = process.getBuiltinModule("fs");
    appendFileSync(${JSON.stringify(log)}, "begun, ");
    signal.addEventListener("abort", () => appendFileSync(${JSON.stringify(log)}, signal.reason.message));
    return new Promise(() => {});
  }`;
  const stopping = call("task-00007", execute, { expression: "1" }, {}, controller);
  stopping.catch(() => {}); // looked at below
  await vi.waitUntil(() => existsSync(log), { timeout: 100_000 });
  controller.abort(new Error("cancelled"));
  await expect(stopping).rejects.toThrow("cancelled");
  await vi.waitUntil(() => readFileSync(log, "utf8") === "begun, cancelled", { timeout: 100_000 });
  expect(await call("task-00007", '() => ({ text: "3" })')).toMatchObject({ attempts: 1 });
});

/** A tool that notes its calls and answers when told to. */
function slowTool() {
  const calls: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const execute: InlinePlugin["execute"] = async (_, { instance }) => {
    calls.push(instance);
    await answered;
    return { text: "here" };
  };
  return { calls, answer: () => answer(), execute };
}

const elsewhere = () => open(inline({ execute: () => ({ text: "elsewhere" }) }));

test("a call that waits for a slot while another worker records it is not made", async () => {
  const { calls, answer, execute } = slowTool();
  const one = open(inline({ execute }), { concurrency: 1 });
  const first = callOn(one, "task-00008");
  await vi.waitUntil(() => calls.length === 1, { timeout: 100_000 });
  const waiting = callOn(one, "task-00009");
  expect(await callOn(elsewhere(), "task-00009")).toMatchObject({ observation: "elsewhere" });
  answer();
  await first;
  expect(await waiting).toMatchObject({ observation: "elsewhere", attempts: 1 });
  expect(calls, "executed again after the record").toHaveLength(1);
});

test("a call that waits for its paused host while another worker records it is not made", async () => {
  const calls: string[] = [];
  const execute: InlinePlugin["execute"] = (_, { instance }) => {
    calls.push(instance);
    if (calls.length === 1) throw new EverturnError("TOOL_FAILED", { tool: "calculator", reason: "down" });
    return { text: "here" };
  };
  const one = open(inline({ execute }), {}, { failures: 1, pause: 700 });
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
  const state = { thread: 1, state: 1 };
  let create = () => {};
  const created = new Promise<void>((resolve) => (create = resolve));
  const one = open(
    inline({
      create: async () => {
        calls.push("created");
        await created;
        return state;
      },
      execute: () => {
        calls.push("executed");
        return { text: "here" };
      },
      release: (instance) => void released.push(instance),
    }),
    { manifest: { ...resolved.manifest, tool: { ...block, stateful: true } } },
  );
  const waiting = callOn(one, "task-00012");
  await vi.waitUntil(() => calls.length === 1, { timeout: 100_000 });
  await callOn(elsewhere(), "task-00012");
  create();
  expect(await waiting).toMatchObject({ observation: "elsewhere" });
  expect(calls).toEqual(["created"]);
  expect(released, "its state lacks the call").toEqual([state]);
});
