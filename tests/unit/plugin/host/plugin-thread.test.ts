import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { ToolExecution } from "../../../../src/contracts/tool.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { threadOf } from "../../../support/thread-of.ts";

const folder = temporaryFolder();
const [resolved] = samplePlan({
  steps: 1,
  batchSize: 8,
  tasks: 2,
  warmStart: false,
  evaluationEvery: 1,
}).tools;
if (resolved === undefined) throw new Error("the sample plan has no tool");
const { signal } = new AbortController();
const execution: ToolExecution = {
  instance: "a",
  function: "",
  key: "a/1/0",
  attempt: 1,
  config: {},
  signal,
  isReplay: false,
};

/** A tool that does what its expression says, with `limit` ms for a call. */
async function unruly(limit: number) {
  const said: string[] = [];
  const source = `{
    create: () => ["created"],
    execute: async ({ expression }, _, state) => {
      const code = "(async (state) => { " + expression + " })";
      return { text: String(await eval(code)(state)) };
    },
    release: () => {},
  }`;
  const thread = await threadOf(source, { ...resolved!, timeout: limit }, (text) => said.push(text));
  const call = async (expression: string, state?: Parameters<typeof thread.isLost>[0]) =>
    (await thread.plugin.execute({ expression }, execution, state)).text;
  return { thread, call, said };
}

test("a tool that never returns costs its own call only: this thread goes on, and a fresh one of the tool starts", async () => {
  const { call, said } = await unruly(1000);
  let turns = 0;
  const turning = setInterval(() => turns++, 10);
  const waiting = call("return new Promise(() => {})");
  const endless = call("while (true);");
  const inLine = call("return 2");
  const timedOut = { code: "TOOL_TIMED_OUT", retryable: true };
  await Promise.all([
    expect(waiting).rejects.toMatchObject(timedOut),
    expect(endless).rejects.toMatchObject(timedOut),
    expect(inLine).rejects.toMatchObject({ code: "PLUGIN_THREAD_ENDED", retryable: true }),
  ]);
  clearInterval(turning);
  expect(turns, "turns of this thread's loop meanwhile").toBeGreaterThan(0);
  expect(said).toEqual([
    "tool-calculator: its thread was stopped: it blocked its thread for longer than 1 s. The next call restarts it.",
  ]);
  expect(await call("return 3")).toBe("3");
});

test("a call's time counts from when it begins: calls in line behind others that compute do not time out", async () => {
  const { call, said } = await unruly(3000);
  const busy = "const end = Date.now() + 300; while (Date.now() < end); return 1";
  const answers = await Promise.all(Array.from({ length: 12 }, () => call(busy)));
  expect(answers).toEqual(Array.from({ length: 12 }, () => "1"));
  expect(said).toEqual([]);
});

test.for([
  ["process.exit(3)", "it called process.exit(3)"],
  ["setTimeout(() => { throw new Error('late') }); return new Promise(() => {})", "uncaught Error: late"],
  ["Promise.reject(new Error('unheard')); return new Promise(() => {})", "uncaught Error: unheard"],
] as const)("%s ends the plugin's thread, and nothing else", async ([expression, reason]) => {
  const { thread, call, said } = await unruly(5000);
  const state = await thread.plugin.create?.({
    instance: "a",
    task: { data_source: "", prompt: [], reward_model: { ground_truth: "" } },
    config: {},
    environment: {},
    signal,
    hold: () => {},
  });
  expect(await call("return state", state)).toBe("created");
  await expect(call(expression, state)).rejects.toMatchObject({ code: "TOOL_FAILED", params: { reason } });
  expect(said).toEqual([`tool-calculator: its thread was stopped: ${reason}. The next call restarts it.`]);
  expect(thread.isLost(state)).toBe(true);
  await expect(call("return 1", state)).rejects.toMatchObject({ code: "PLUGIN_THREAD_ENDED" });
  expect(await call("return 1")).toBe("1");
});

test.skipIf(!existsSync("/proc/self/environ"))(
  "a process that a call waits for is killed with its thread",
  async () => {
    const { call } = await unruly(1500);
    const file = join(folder, "pid");
    const script = `"echo $$ > ${file}; exec sleep 600"`;
    const waiting = call(`process.getBuiltinModule("child_process").execFileSync("sh", ["-c", ${script}])`);
    await expect(waiting).rejects.toMatchObject({ code: "TOOL_TIMED_OUT" });
    const written = () => (existsSync(file) ? readFileSync(file, "utf8").trim() : "");
    const pid = await vi.waitUntil(written, { timeout: 100_000 }); // the thread is ended two seconds later only
    await vi.waitUntil(() => !existsSync(`/proc/${pid}`), { timeout: 100_000 });
    expect(await call("return 1")).toBe("1");
  },
);
