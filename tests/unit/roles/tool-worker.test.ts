import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Task } from "../../../src/contracts/generated/task.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { TrajectoryPlace } from "../../../src/contracts/trajectory.ts";
import { machineFolder } from "../../../src/processes/machine-folder.ts";
import { type ToolWorker, toolWorker } from "../../../src/roles/tool-worker.ts";
import { createRun } from "../../../src/runs/create-run.ts";
import { openRun } from "../../../src/runs/open-runs.ts";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { callKey, leftOutKey, trajectoryKey } from "../../../src/store/keys.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const entry = join(runs, "tool-memory", "index.ts");
mkdirSync(join(runs, "tool-memory"));
const releasedLog = join(runs, "released.log");
// Its instances are what happened to them, in order. The first one of trajectory "unlucky" can't be made.
writeFileSync(
  entry,
  `import { appendFileSync } from "node:fs";
const unlucky = [];
export default {
  create: ({ instance }) => {
    if (instance.includes("unlucky") && unlucky.push(1) === 1) throw new Error("no room");
    return ["created for " + instance];
  },
  execute: ({ expression }, { isReplay }, state) => {
    if (expression === "exit") process.exit(1);
    if (expression !== "") state.push((isReplay ? "again " : "") + expression);
    return { text: JSON.stringify(state) };
  },
  release: (state) => appendFileSync(${JSON.stringify(releasedLog)}, JSON.stringify(state) + "\\n"),
  snapshot: (state) => Buffer.from(JSON.stringify(state)),
  restore: (bytes) => [...JSON.parse(Buffer.from(bytes).toString()), "restored"],
};`,
);

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const [calculator] = plan.tools;
const block = calculator?.manifest.tool;
if (calculator === undefined || block === undefined) throw new Error("the sample plan has no tool");
const tools = (["fail", "replay", "snapshot"] as const).map((recovery) => {
  const manifest = { ...calculator.manifest, tool: { ...block, name: recovery, stateful: true, recovery } };
  return { ...calculator, entry, manifest };
});
const run = await createRun({ ...plan, tools }, runs, undefined, false);
const folder = runFolder(runs, run);

const task: Task = { data_source: "test", prompt: [], reward_model: { ground_truth: "" } };
const { signal } = new AbortController();
const place = (name: string): TrajectoryPlace => ({
  ...{ id: name, run, stage: "step-0001", step: 1, task: name, sample: 0 },
});

/** The instance's state when a worker calls it. */
async function held(worker: ToolWorker, name: string, toolName: string, turn = 1): Promise<unknown> {
  const tool = await worker.tool(toolName);
  const call = { place: place(name), task, tool, turn, call: 0, continues: false, signal };
  const execution = { instance: name, key: name, attempt: 1, config: {}, signal, isReplay: false };
  const { answer } = await worker.instances.use(call, async (state) =>
    tool.plugin.execute({ expression: "" }, execution, state),
  );
  return JSON.parse(answer.text);
}

/** The states of instances of trajectory `name` when they were released. */
function released(name: string): string[][] {
  const lines = existsSync(releasedLog) ? readFileSync(releasedLog, "utf8").trim().split("\n") : [];
  return lines.map((line) => JSON.parse(line)).filter(([created]) => created === `created for ${name}`);
}

/** A call as its activity makes it, with what it records. */
async function call(
  worker: ToolWorker,
  name: string,
  toolName: string,
  turn: number,
  silent?: ToolWorker,
): Promise<unknown> {
  const tool = await worker.tool(toolName);
  const parameters: JsonObject = { expression: `turn ${turn}` };
  const needed = { place: place(name), task, tool, turn, call: 0, continues: turn > 1, signal };
  const gone = silent === undefined ? {} : { silent: { queue: await silent.ownQueue(), ms: 10_000 } };
  const execution = { instance: name, key: `${name}/${turn}/0`, attempt: 1, config: {}, signal };
  const { answer, snapshot } = await worker.instances.use({ ...needed, ...gone }, async (state) => {
    return tool.plugin.execute(parameters, { ...execution, isReplay: false }, state);
  });
  const recorded = { tool: toolName, arguments: parameters, observation: answer.text, valid: true };
  const { store } = await openRun(runs, run);
  const snapped = snapshot === undefined ? {} : { snapshot };
  const key = callKey(place(name), turn, 0);
  await store.record(key, { ...recorded, reward: 0, attempts: 1, seconds: 0, ...snapped });
  return JSON.parse(answer.text);
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
  const [one, other] = [toolWorker(runs, run), toolWorker(runs, run)];
  await call(one, "c", "fail", 1);
  const tool = await other.tool("fail");
  const silentFor = async (ms: number) => ({ queue: await one.ownQueue(), ms });
  expect(await other.instances.heldBy(place("c"), tool, await silentFor(60_000))).toBe(await one.ownQueue());
  expect(await other.instances.heldBy(place("c"), tool, await silentFor(300_000))).toBeUndefined();
  await one.instances.forget(place("c"), tool);
  const lost = { code: "TOOL_STATE_LOST", retryable: false };
  await expect(call(one, "c", "fail", 2)).rejects.toMatchObject(lost);
  await Promise.all([one.close(), other.close()]);
});

test("recovery replay: another worker takes over from a silent one and makes the recorded calls again, in order", async () => {
  const [one, other] = [toolWorker(runs, run), toolWorker(runs, run)];
  await call(one, "d", "replay", 1);
  await call(one, "d", "replay", 2);
  const tool = await other.tool("replay");
  expect(await other.instances.heldBy(place("d"), tool)).toBe(await one.ownQueue());
  await expect(call(other, "d", "replay", 3)).rejects.toMatchObject({ code: "TOOL_LEASE_TAKEN" });
  const after = await call(other, "d", "replay", 3, one);
  expect(after).toEqual(["created for d", "again turn 1", "again turn 2", "turn 3"]);
  await one.instances.renew();
  expect(released("d")).toEqual([["created for d", "turn 1", "turn 2"]]);
  expect(leases("d~")).toEqual(["step-0001~d~0~replay~2.json"]);
  await Promise.all([one.close(), other.close()]);
});

test("a worker that others took for gone makes no call and removes nothing of theirs; numbers are never given twice", async () => {
  const [one, other] = [toolWorker(runs, run), toolWorker(runs, run)];
  await call(one, "stalled", "replay", 1);
  await call(other, "stalled", "replay", 2, one);
  const taken = { code: "TOOL_LEASE_TAKEN", retryable: true };
  await expect(call(one, "stalled", "replay", 3)).rejects.toMatchObject(taken);
  expect(released("stalled"), "its own instance, without the call").toEqual([
    ["created for stalled", "turn 1"],
  ]);
  const tool = await one.tool("replay");
  expect(await one.instances.heldBy(place("stalled"), tool)).toBe(await other.ownQueue());
  await one.instances.release(place("stalled"), tool);
  expect(leases("stalled~")).toEqual(["step-0001~stalled~0~replay~2.json"]);
  await other.instances.release(place("stalled"), tool);
  expect(leases("stalled~")).toEqual([]);
  await call(other, "stalled", "replay", 3);
  expect(leases("stalled~")).toEqual(["step-0001~stalled~0~replay~3.json"]);
  await Promise.all([one.close(), other.close()]);
});

test("of two workers that take an instance at once one gets it, and the other leaves it to that one", async () => {
  const workers = [toolWorker(runs, run), toolWorker(runs, run)];
  const made = await Promise.allSettled(workers.map((worker) => call(worker, "raced", "replay", 1)));
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(leases("raced~")).toHaveLength(1);
  await Promise.all(workers.map((worker) => worker.close()));
});

test("recovery snapshot: another worker restores the state after the last recorded call", async () => {
  const [one, other] = [toolWorker(runs, run), toolWorker(runs, run)];
  await call(one, "e", "snapshot", 1);
  await call(one, "e", "snapshot", 2);
  const after = await call(other, "e", "snapshot", 3, one);
  expect(after).toEqual(["created for e", "turn 1", "turn 2", "restored", "turn 3"]);
  await expect(call(one, "e", "snapshot", 4, other)).resolves.toContain("restored");
  await Promise.all([one.close(), other.close()]);
});

test("recovery snapshot: one that was changed on the disk is no state, and the call fails visibly", async () => {
  const [one, other] = [toolWorker(runs, run), toolWorker(runs, run)];
  await call(one, "f2", "snapshot", 1);
  const { store } = await openRun(runs, run);
  const { snapshot = "" } = (await store.read(callKey(place("f2"), 1, 0))) ?? {};
  writeFileSync(join(folder.root, "bytes", snapshot.slice(0, 2), `${snapshot}.bin`), '["forged"]');
  await expect(call(other, "f2", "snapshot", 2, one)).rejects.toMatchObject({ code: "TOOL_STATE_LOST" });
  await Promise.all([one.close(), other.close()]);
});

test("a call that fails half-way is made again on the state before it", async () => {
  const worker = toolWorker(runs, run);
  await call(worker, "f", "replay", 1);
  const tool = await worker.tool("replay");
  const broken = { place: place("f"), task, tool, turn: 2, call: 0, continues: true, signal };
  const execution = { instance: "f", key: "f/2/0", attempt: 1, config: {}, signal, isReplay: false };
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
    const execution = { instance: "", key: "", attempt: 1, config: {}, signal, isReplay: false };
    const ending = tool.plugin.execute({ expression: "exit" }, execution, undefined);
    await expect(ending).rejects.toMatchObject({ code: "TOOL_FAILED" });
  }
  expect(await call(worker, "lost-replay", "replay", 2)).toEqual([
    ...["created for lost-replay", "again turn 1", "turn 2"],
  ]);
  expect(await call(worker, "lost-snapshot", "snapshot", 2)).toEqual([
    ...["created for lost-snapshot", "turn 1", "restored", "turn 2"],
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
  const { store } = await openRun(runs, run);
  await store.record<unknown>(trajectoryKey(place("g")), {});
  await worker.instances.renew();
  expect(released("g")).toEqual([["created for g", "turn 1"]]);
});

test("an instance is kept while its trajectory, which was left out before, is under way again", async () => {
  const { store } = await openRun(runs, run);
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
  const manifest = { ...calculator.manifest, tool: { ...block, name: "slow", stateful: true } };
  const slowTools = [{ ...calculator, entry: slow, manifest, timeout: 50 }];
  const worker = toolWorker(runs, await createRun({ ...plan, tools: slowTools }, runs, undefined, false));
  await expect(held(worker, "j", "slow")).rejects.toMatchObject({ code: "TOOL_TIMED_OUT" });
  await vi.waitUntil(() => existsSync(reaped));
  expect(readFileSync(reaped, "utf8")).toBe("sandbox 1");
});
