import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { ownIdentity, processIdentity } from "../../../../src/base/processes/process-identity.ts";
import type { ToolExecution } from "../../../../src/contracts/tool.ts";
import { pluginHosts } from "../../../../src/plugin/host/plugin-hosts.ts";
import { pluginHostRecords } from "../../../../src/work/tools/plugin-host-records.ts";
import { toolThread } from "../../../../src/work/tools/tool-thread.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writePlugin } from "../../../support/thread-of.ts";

const [resolved] = samplePlan({
  steps: 1,
  batchSize: 8,
  tasks: 2,
  warmStart: false,
  evaluationEvery: 1,
}).tools;
const { signal } = new AbortController();
const folders = temporaryFolder();
/** As native code does. */
const crash = "process.kill(process.pid, 'SIGABRT'); return new Promise(() => {})";
const task = { data_source: "", prompt: [], reward_model: { ground_truth: "" } };

const source = `{
  create: ({ hold }) => { hold({ held: true }); return ["created"]; },
  execute: async ({ expression }, { signal }, state) => {
    const answer = await eval("(async (state, signal) => { " + expression + " })")(state, signal);
    return { text: String(answer) };
  },
  snapshot: (state) => new TextEncoder().encode(state[0]),
  restore: (bytes) => [new TextDecoder().decode(bytes)],
  release: () => {},
}`;

/** The hosts of a worker, whose tools do what their expressions say. */
function hosts() {
  const said: string[] = [];
  const pids: number[] = [];
  const observer = { started: (pid: number) => void pids.push(pid), ended: () => {} };
  const all = pluginHosts(observer, (text) => said.push(text));
  onTestFinished(all.close);
  return {
    said,
    pids,
    tool: async (name: string) => {
      if (resolved === undefined) throw new Error("the sample plan has no tool");
      const one = { ...resolved, name, timeout: 20_000, entry: writePlugin(source) };
      const thread = await toolThread(one, name, (text) => said.push(text), all.start);
      const execution: ToolExecution = {
        instance: "a",
        function: "",
        key: "a/1/0",
        attempt: 1,
        config: {},
        signal,
        isReplay: false,
      };
      const call = async (
        expression: string,
        state?: Parameters<typeof thread.isLost>[0],
        by: AbortSignal = signal,
      ) => (await thread.plugin.execute({ expression }, { ...execution, signal: by }, state)).text;
      return { thread, call };
    },
  };
}

const creation = { instance: "a", task, config: {}, environment: {}, signal, hold: () => {} };

test("what a plugin does crosses to its host and back: state, what it holds, snapshots, aborts, errors with their stack", async () => {
  const { tool, pids } = hosts();
  const { thread, call } = await tool("one");
  const handles: unknown[] = [];
  const state = await thread.plugin.create?.({ ...creation, hold: (handle) => handles.push(handle) });
  expect(handles).toEqual([{ held: true }]);
  expect(await call("state.push(1); return state.length", state)).toBe("2");
  expect(await call("return process.pid")).toBe(String(pids[0]));
  const bytes = await thread.plugin.snapshot?.(state);
  expect(Buffer.from(bytes ?? []).toString()).toBe("created");
  const again = await thread.plugin.restore?.(bytes ?? new Uint8Array(), creation);
  expect(await call("return state", again)).toBe("created");
  await expect(call("throw new RangeError('out of it')")).rejects.toMatchObject({
    code: "TOOL_FAILED",
    cause: { name: "RangeError", message: "out of it" },
  });
  const controller = new AbortController();
  const waiting = call(
    "return new Promise((resolve) => { signal.onabort = () => { globalThis.told = String(signal.reason); }; })",
    undefined,
    controller.signal,
  );
  await call("return 1");
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(await call("return globalThis.told")).toBe("Error: enough");
  await expect(call("process.exit(3)", state)).rejects.toMatchObject({ code: "TOOL_FAILED" });
  expect(thread.isLost(state)).toBe(true);
  expect(await call("return process.pid"), "the host goes on").toBe(String(pids[0]));
  await thread.close();
});

test.for([
  ["process.kill(process.pid, 'SIGABRT'); return new Promise(() => {})", "SIGABRT"],
  ["process.kill(process.pid, 'SIGKILL'); return new Promise(() => {})", "SIGKILL"],
  [
    "process.kill(process.pid, 'SIGSTOP'); return new Promise(() => {})",
    "it did not respond for ten seconds",
  ],
] as const)(
  "%s costs the call an attempt and its instances, and this process nothing",
  async ([expression, reason]) => {
    const { tool, said, pids } = hosts();
    const { thread, call } = await tool("one");
    const state = await thread.plugin.create?.(creation);
    await expect(call(expression, state)).rejects.toMatchObject({
      code: "TOOL_FAILED",
      params: { reason: `the process that it ran in ended: ${reason}` },
    });
    expect(thread.isLost(state)).toBe(true);
    expect(await call("return 3")).toBe("3");
    expect(pids).toHaveLength(2);
    expect(said).toEqual([
      `a plugin host ended (${reason}) during a call of one. The next call starts another one.`,
    ]);
  },
);

test("of two plugins whose calls were under way neither is blamed: each has a host of its own from then on", async () => {
  const { tool, pids } = hosts();
  const [good, bad] = [await tool("good"), await tool("bad")];
  expect(pids).toHaveLength(1);
  const innocent = good.call("return new Promise(() => {})");
  await good.call("return 1"); // the other one has begun
  const again = { code: "PLUGIN_THREAD_ENDED", retryable: true };
  await Promise.all([
    expect(innocent).rejects.toMatchObject(again),
    expect(bad.call(crash)).rejects.toMatchObject(again),
  ]);
  const spared = good.call("return new Promise((resolve) => setTimeout(resolve, 500, 'spared'))");
  await expect(bad.call(crash)).rejects.toMatchObject({ code: "TOOL_FAILED" });
  expect(await spared).toBe("spared");
  expect(new Set([await good.call("return process.pid"), await bad.call("return process.pid")]).size).toBe(2);
});

test("a host that could not be written down is ended, and the next call starts another one", async () => {
  const pids: number[] = [];
  const full = new EverturnError("DISK_FULL", { file: "host.json", wanted: "", free: "0 B" });
  const observer = {
    started: (pid: number) => {
      if (pids.push(pid) === 1) throw full;
    },
    ended: () => {},
  };
  const all = pluginHosts(observer, () => {});
  onTestFinished(all.close);
  if (resolved === undefined) throw new Error("the sample plan has no tool");
  const one = { ...resolved, entry: writePlugin(source) };
  await expect(toolThread(one, "one", () => {}, all.start)).rejects.toBe(full);
  const { close } = await toolThread(one, "one", () => {}, all.start);
  await vi.waitUntil(() => processIdentity(pids[0] ?? -1) === undefined, { timeout: 30_000 });
  expect(pids).toHaveLength(2);
  await close();
});

test("a plugin that ends the process as it is loaded is refused by name", async () => {
  const all = pluginHosts({ started: () => {}, ended: () => {} }, () => {});
  onTestFinished(all.close);
  if (resolved === undefined) throw new Error("the sample plan has no tool");
  const entry = writePlugin("(process.kill(process.pid, 'SIGABRT'), await new Promise(() => {}))");
  await expect(toolThread({ ...resolved, entry }, "one", () => {}, all.start)).rejects.toMatchObject({
    code: "PLUGIN_ENTRY_FAILED",
    params: { reason: "the process that it ran in ended: SIGABRT" },
  });
});

test.for(["works", "is stopped"])(
  "a host that %s ends after its worker was killed, and leaves no file",
  async (state) => {
    const folder = join(folders, state.replace(" ", "-"));
    const parameters = [
      join(import.meta.dirname, "../../../support/hosting-process.ts"),
      folder,
      writePlugin(source),
    ];
    const worker = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void worker.kill("SIGKILL"));
    const [said] = await once(worker.stdout, "data");
    const host = Number(said);
    expect(readdirSync(folder)).toHaveLength(1);
    if (state === "is stopped") process.kill(host, "SIGSTOP");
    const ended = once(worker, "exit");
    worker.kill("SIGKILL");
    await ended;
    if (state === "works") await vi.waitUntil(() => processIdentity(host) === undefined, { timeout: 30_000 });
    await pluginHostRecords(folder, ownIdentity()).reap();
    await vi.waitUntil(() => processIdentity(host) === undefined, { timeout: 30_000 });
    expect(readdirSync(folder)).toEqual([]);
  },
);
