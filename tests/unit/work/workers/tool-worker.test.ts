import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { machineFolder } from "../../../../src/base/processes/machine-folder.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { runFolder } from "../../../../src/run/folder/run-folder.ts";
import { callKey, leftOutKey, trajectoryKey } from "../../../../src/run/store/keys.ts";
import { removeRecords } from "../../../../src/run/trajectory/folded/remove-records.ts";
import { type ToolWorker, toolWorker } from "../../../../src/work/workers/tool-worker.ts";
import { callMemory, createMemoryRun, memoryTask, placeOf } from "../../../support/memory-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { startToolHolder } from "../../../support/tool-holder.ts";

const runs = temporaryFolder();
const { run, plan, toolOf, released } = await createMemoryRun(runs);
const folder = runFolder(runs, run);
const { signal } = new AbortController();
const place = (name: string) => placeOf(run, name);

/** A worker of this machine in another process. */
let far: Awaited<ReturnType<typeof startToolHolder>>;
beforeAll(async () => {
  far = await startToolHolder(runs, run);
});
afterAll(() => far.kill());

/** The instance's state when a worker calls it. */
async function held(worker: ToolWorker, name: string, toolName: string, turn = 1): Promise<unknown> {
  const tool = await worker.tool(toolName);
  const needed = { place: place(name), task: memoryTask, tool, turn, call: 0, continues: false, signal };
  const execution = {
    instance: name,
    function: "",
    key: name,
    attempt: 1,
    config: {},
    signal,
    isReplay: false,
  };
  const { answer } = await worker.instances.use(needed, async (state) =>
    tool.plugin.execute({ expression: "" }, execution, state),
  );
  return JSON.parse(answer.text);
}

/** A call as its activity makes it, with what it records. */
function call(worker: ToolWorker, name: string, tool: string, turn: number, silent?: string) {
  return callMemory(worker, [runs, run], { name, tool, turn, silent });
}

/** The files of what this machine's workers hold, of one trajectory or of all. */
function leases(name = ""): string[] {
  const files = readdirSync(machineFolder(folder.root)).filter((file) => !file.startsWith("worker-"));
  return files.filter((file) => file.includes(`~${name}`));
}

test("a tool has one instance for each trajectory, released once", async () => {
  const worker = toolWorker(runs, run);
  const [first, same] = await Promise.all([held(worker, "a", "fail"), held(worker, "a", "fail")]);
  expect(same).toEqual(first);
  expect(await held(worker, "b", "fail")).toEqual(["created for b"]);
  const tool = await worker.tool("fail");
  await worker.instances.release(place("a"), tool);
  await worker.instances.release(place("a"), tool);
  expect(released("a")).toEqual([["created for a"]]);
  await worker.close();
  expect(leases()).toEqual([]);
});

test("recovery fail: state that is nowhere any more is not made up anew, the call fails visibly", async () => {
  const worker = toolWorker(runs, run);
  await call(worker, "c", "fail", 1);
  await worker.instances.forget(place("c"), await worker.tool("fail"));
  const lost = { code: "TOOL_STATE_LOST", retryable: false };
  await expect(call(worker, "c", "fail", 2)).rejects.toMatchObject(lost);
  await worker.close();
});

test("a holder that works on this machine is never taken over, however long it takes; a stopped one is", async () => {
  const other = toolWorker(runs, run);
  for (const name of ["fail", "replay"]) await far.call({ name: `busy-${name}`, tool: name, turn: 1 });
  const heldBy = async (name: string, ms: number) =>
    other.instances.heldBy(place(`busy-${name}`), await other.tool(name), { queue: far.queue, ms });
  for (const name of ["fail", "replay"]) expect(await heldBy(name, 3_600_000)).toBe(far.queue);
  const taken = { code: "TOOL_LEASE_TAKEN", retryable: true };
  await expect(call(other, "busy-replay", "replay", 2, far.queue)).rejects.toMatchObject(taken);
  await far.whileStopped(async () => {
    expect(await heldBy("replay", 10_000)).toBeUndefined();
    expect(await heldBy("fail", 60_000), "what can't be recovered is waited for").toBe(far.queue);
    expect(await heldBy("fail", 300_000)).toBeUndefined();
  });
  expect(await far.call({ name: "busy-replay", tool: "replay", turn: 2 })).toEqual([
    "created for busy-replay",
    "turn 1",
    "turn 2",
  ]);
  await other.close();
});

test("recovery replay: another worker takes over from a silent one and makes the recorded calls again, in order", async () => {
  const other = toolWorker(runs, run);
  await far.call({ name: "d", tool: "replay", turn: 1 });
  await far.call({ name: "d", tool: "replay", turn: 2 });
  expect(await other.instances.heldBy(place("d"), await other.tool("replay"))).toBe(far.queue);
  await far.whileStopped(async () => {
    await expect(call(other, "d", "replay", 3)).rejects.toMatchObject({ code: "TOOL_LEASE_TAKEN" });
    const after = await call(other, "d", "replay", 3, far.queue);
    expect(after).toEqual(["created for d", "again turn 1", "again turn 2", "turn 3"]);
  });
  await far.renew();
  expect(released("d")).toEqual([["created for d", "turn 1", "turn 2"]]);
  expect(leases("d~")).toEqual(["step-0001~d~0~replay~2.json"]);
  await other.close();
});

test("a worker that others took for gone makes no call and removes nothing of theirs; numbers are never given twice", async () => {
  const other = toolWorker(runs, run);
  await far.call({ name: "stalled", tool: "replay", turn: 1 });
  await far.whileStopped(() => call(other, "stalled", "replay", 2, far.queue));
  const late = far.call({ name: "stalled", tool: "replay", turn: 3 });
  await expect(late).rejects.toMatchObject({ code: "TOOL_LEASE_TAKEN" });
  expect(released("stalled"), "its own instance, without the call").toEqual([
    ["created for stalled", "turn 1"],
  ]);
  expect(leases("stalled~")).toEqual(["step-0001~stalled~0~replay~2.json"]);
  await other.instances.release(place("stalled"), await other.tool("replay"));
  expect(leases("stalled~")).toEqual([]);
  await call(other, "stalled", "replay", 3);
  expect(leases("stalled~")).toEqual(["step-0001~stalled~0~replay~3.json"]);
  await other.close();
});

test("of two workers that take an instance at once one gets it, and the other leaves it to that one", async () => {
  const workers = [toolWorker(runs, run), toolWorker(runs, run)];
  const made = await Promise.allSettled(workers.map((worker) => call(worker, "raced", "replay", 1)));
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(leases("raced~")).toHaveLength(1);
  await Promise.all(workers.map((worker) => worker.close()));
});

test("recovery snapshot: another worker restores the state after the last recorded call", async () => {
  const other = toolWorker(runs, run);
  await far.call({ name: "e", tool: "snapshot", turn: 1 });
  await far.call({ name: "e", tool: "snapshot", turn: 2 });
  const after = await far.whileStopped(() => call(other, "e", "snapshot", 3, far.queue));
  expect(after).toEqual(["created for e", "turn 1", "turn 2", "restored", "turn 3"]);
  await other.close();
});

test("recovery snapshot: one that was changed on the disk is no state, and the call fails visibly", async () => {
  const other = toolWorker(runs, run);
  await far.call({ name: "f2", tool: "snapshot", turn: 1 });
  const { store } = await openRunFolder(runs, run);
  const { snapshot = "" } = (await store.read(callKey(place("f2"), 1, 0))) ?? {};
  writeFileSync(join(folder.root, "bytes", snapshot.slice(0, 2), `${snapshot}.bin`), '["forged"]');
  const restoring = far.whileStopped(() => call(other, "f2", "snapshot", 2, far.queue));
  await expect(restoring).rejects.toMatchObject({ code: "TOOL_STATE_LOST" });
  await other.close();
});

test("a call that fails half-way is made again on the state before it", async () => {
  const worker = toolWorker(runs, run);
  await call(worker, "f", "replay", 1);
  const tool = await worker.tool("replay");
  const broken = { place: place("f"), task: memoryTask, tool, turn: 2, call: 0, continues: true, signal };
  const execution = {
    instance: "f",
    function: "",
    key: "f/2/0",
    attempt: 1,
    config: {},
    signal,
    isReplay: false,
  };
  const failing = worker.instances.use(broken, async (state) => {
    await tool.plugin.execute({ expression: "half of turn 2" }, execution, state);
    throw new Error("the host is down");
  });
  await expect(failing).rejects.toThrow("the host is down");
  expect(await call(worker, "f", "replay", 2)).toEqual(["created for f", "again turn 1", "turn 2"]);
  await worker.close();
});

test("instances whose thread ended count as lost with it, as if their worker had died", async () => {
  const worker = toolWorker(runs, run);
  for (const name of ["replay", "snapshot", "fail"]) {
    await call(worker, `lost-${name}`, name, 1);
    const tool = await worker.tool(name);
    const execution = {
      instance: "",
      function: "",
      key: "",
      attempt: 1,
      config: {},
      signal,
      isReplay: false,
    };
    const ending = tool.plugin.execute({ expression: "exit" }, execution, undefined);
    await expect(ending).rejects.toMatchObject({ code: "TOOL_FAILED" });
  }
  expect(await call(worker, "lost-replay", "replay", 2)).toEqual([
    "created for lost-replay",
    "again turn 1",
    "turn 2",
  ]);
  expect(await call(worker, "lost-snapshot", "snapshot", 2)).toEqual([
    "created for lost-snapshot",
    "turn 1",
    "restored",
    "turn 2",
  ]);
  await expect(call(worker, "lost-fail", "fail", 2)).rejects.toMatchObject({ code: "TOOL_STATE_LOST" });
  await worker.close();
});

test("an instance that could not be made is tried again", async () => {
  const worker = toolWorker(runs, run);
  await expect(held(worker, "unlucky", "fail")).rejects.toThrow("no room");
  expect(await held(worker, "unlucky", "fail")).toEqual(["created for unlucky"]);
  await worker.close();
});

test("what a finished trajectory left is let go, also when nobody asks for its release", async () => {
  const worker = toolWorker(runs, run);
  await call(worker, "g", "replay", 1);
  await worker.instances.renew();
  expect(released("g")).toEqual([]);
  const { store } = await openRunFolder(runs, run);
  await store.record<unknown>(trajectoryKey(place("g")), {});
  await worker.instances.renew();
  expect(released("g")).toEqual([["created for g", "turn 1"]]);
});

test("what a finished trajectory left is let go, also when its single records went before anyone looked", async () => {
  const worker = toolWorker(runs, run);
  await call(worker, "g2", "replay", 1);
  const { store } = await openRunFolder(runs, run);
  await store.record<unknown>(trajectoryKey(place("g2")), {});
  await removeRecords(store, [place("g2")]); // as with retention.singleRecords: 0, once its step is in a file
  await worker.instances.renew();
  expect(released("g2")).toEqual([["created for g2", "turn 1"]]);
  await worker.close();
});

test("an instance is kept while its trajectory, which was left out before, is under way again", async () => {
  const { store } = await openRunFolder(runs, run);
  const worker = toolWorker(runs, run);
  await store.record<unknown>(leftOutKey(place("k"), 1), {});
  await call(worker, "k", "replay", 1);
  await worker.instances.renew();
  expect(released("k")).toEqual([]);
  await store.record<unknown>(leftOutKey(place("k"), 2), {});
  await worker.instances.renew();
  expect(released("k")).toEqual([["created for k", "turn 1"]]);
});

test("a worker that ends releases what it still holds", async () => {
  const worker = toolWorker(runs, run);
  await Promise.all(["h", "i"].map((name) => held(worker, name, "fail")));
  await worker.close();
  expect([...released("h"), ...released("i")]).toEqual([["created for h"], ["created for i"]]);
});

test("an instance that was given up while it was being made is freed when it says what it holds", async () => {
  const reaped = join(runs, "reaped.log");
  const slow = join(runs, "tool-memory", "slow.ts");
  writeFileSync(
    slow,
    `import { appendFileSync } from "node:fs";
export default {
  create: async ({ hold }) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    hold("sandbox 1");
  },
  execute: () => ({ text: "" }),
  release: () => {},
  reap: (handle) => appendFileSync(${JSON.stringify(reaped)}, handle),
};`,
  );
  const slowTools = [{ ...toolOf("slow", "fail"), entry: slow, timeout: 50 }];
  const worker = toolWorker(runs, await createRunFolder({ ...plan, tools: slowTools }, { runs }));
  await expect(held(worker, "j", "slow")).rejects.toMatchObject({ code: "TOOL_TIMED_OUT" });
  const written = () => (existsSync(reaped) ? readFileSync(reaped, "utf8") : "");
  expect(await vi.waitUntil(written, { timeout: 100_000 })).toBe("sandbox 1");
});
