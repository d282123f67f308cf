import { afterEach, beforeEach, expect, test } from "vitest";
import openenv from "../../../plugins/environment-openenv/index.ts";
import type { Task } from "../../../src/contracts/generated/task.ts";
import type { JsonObject, JsonValue } from "../../../src/contracts/json.ts";
import type { ToolCreation } from "../../../src/contracts/tool.ts";
import { type OpenenvServer, startOpenenv } from "../../support/openenv-server.ts";

let server: OpenenvServer;
let config: JsonObject;

beforeEach(async () => {
  server = await startOpenenv();
  config = { url: server.url, split: "train", instruction: "Add.", success: 1, exceptions: "failure" };
});

afterEach(() => server.close());

const never = new AbortController().signal;

async function taskAt(index: number): Promise<Task> {
  const task = (await openenv.load(config))[index];
  if (task === undefined) throw new Error("there is no such task");
  return task;
}

async function creation(index = 0): Promise<ToolCreation & { held: JsonValue[] }> {
  const held: JsonValue[] = [];
  const hold = (handle: JsonValue) => void held.push(handle);
  const task = await taskAt(index);
  return { instance: "t-1", task, config, environment: {}, signal: never, hold, held };
}

type Instance = NonNullable<Awaited<ReturnType<NonNullable<typeof openenv.create>>>>;

async function made(index?: number): Promise<Instance> {
  const instance = await openenv.create?.(await creation(index));
  if (instance === undefined) throw new Error("there is no instance");
  return instance;
}

function call(instance: Instance, name: string, given: JsonObject = {}, signal = never) {
  const about = { instance: "t-1", key: "k", attempt: 1, config, isReplay: false };
  return openenv.execute?.(given, { ...about, function: name, signal }, instance);
}

function saved(instance: Instance): Uint8Array {
  return Buffer.from(
    openenv.snapshot?.(instance) instanceof Uint8Array ? String(openenv.snapshot(instance)) : "",
  );
}

async function restored(snapshot: Uint8Array): Promise<Instance> {
  const instance = await openenv.restore?.(snapshot, await creation());
  if (instance === undefined) throw new Error("there is no instance");
  return instance;
}

async function scoreOf(instance: Instance) {
  const answered = { task: await taskAt(0), turns: [], outcome: "done" as const, answer: "" };
  return openenv.score({ ...answered, config, snapshots: { openenv: saved(instance) }, signal: never });
}

test("the server's tasks and actions become tasks and functions", async () => {
  const tasks = await openenv.load({ ...config, limit: 3 });
  expect(tasks).toHaveLength(3);
  expect(tasks[1]).toMatchObject({
    data_source: "openenv/count",
    prompt: [{ role: "system", content: "Add." }],
    extra_info: { openenv: { split: "train", index: 1 } },
  });
  const seeded = await openenv.load({ ...config, seeds: { first: 5, count: 2 } });
  expect(seeded.map(({ extra_info }) => extra_info?.openenv)).toEqual([{ seed: 5 }, { seed: 6 }]);
  expect(await openenv.functions?.(config)).toMatchObject({
    reset: { forLoops: true },
    step: { parameters: { required: ["amount"], properties: { amount: { type: "integer" } } } },
  });
});

test("an episode: its rewards are its calls', and its session is closed", async () => {
  const instance = await made();
  expect(await call(instance, "reset")).toEqual({ text: '{"total":0,"prompt":"Reach 3."}' });
  expect(await call(instance, "step", { amount: 1 })).toEqual({ text: "1", done: false, reward: 0 });
  expect(await call(instance, "step", { amount: 2 })).toEqual({ text: "3", done: true, reward: 1 });
  expect(await call(instance, "step", { amount: 2 })).toEqual({ text: "The episode is over.", done: true });
  expect(server.counts.steps).toBe(2);
  expect(await scoreOf(instance)).toEqual({ reward: 0, success: true, metrics: { return: 1 } });
  expect(server.sessions()).toBe(1);
  await openenv.release?.(instance);
  expect(server.sessions()).toBe(0);
});

test("an episode outlives its connection and its worker: it goes on in the same session", async () => {
  const instance = await made();
  await call(instance, "reset");
  await call(instance, "step", { amount: 1 });
  server.dropSockets();
  expect(await call(instance, "step", { amount: 1 })).toMatchObject({ text: "2" });
  const snapshot = saved(instance);
  instance.episode.close(); // as its worker's death does
  const again = await restored(snapshot);
  expect(await call(again, "step", { amount: 1 })).toMatchObject({ text: "3", done: true });
  expect([server.counts.resets, server.sessions()]).toEqual([1, 1]);
  await openenv.release?.(again);
});

test("a step whose answer was lost is not taken twice: its episode is repeated in a new one", async () => {
  const instance = await made();
  await call(instance, "reset");
  await call(instance, "step", { amount: 1 });
  const snapshot = saved(instance);
  server.faults.isSilent = true;
  await expect(call(instance, "step", { amount: 1 }, AbortSignal.timeout(200))).rejects.toThrow();
  server.faults.isSilent = false;
  await openenv.release?.(instance);
  const again = await restored(snapshot);
  expect(await call(again, "step", { amount: 2 })).toMatchObject({ text: "3", done: true, reward: 1 });
  expect([server.counts.resets, server.sessions()]).toEqual([2, 1]);
  await openenv.release?.(again);
});

test("an episode of a lost server is repeated and compared; one that differs is no trajectory", async () => {
  const instance = await made();
  await call(instance, "reset");
  await call(instance, "step", { amount: 1 });
  const snapshot = saved(instance);
  await server.close();
  server = await startOpenenv();
  config.url = server.url;
  const again = await restored(snapshot);
  expect(again.history.calls).toEqual(instance.history.calls);
  await openenv.release?.(again);
  server.faults.drift = 1;
  await expect(restored(snapshot)).rejects.toThrow("another observation");
  expect(server.sessions(), "what was opened for it is closed").toBe(0);
});

test("failures of the environment are no rewards, and mistakes of the policy no failures", async () => {
  server.faults.failsReset = (index) => index === 1;
  const failed = await made(1);
  await expect(call(failed, "reset")).rejects.toThrow("the simulator did not start");
  await openenv.release?.(failed);
  const instance = await made();
  await call(instance, "reset");
  expect(await call(instance, "step", { amount: "many" })).toMatchObject({ invalid: expect.any(String) });
  await expect(call(instance, "step", { amount: 13 })).rejects.toThrow("thirteen");
  config.exceptions = "observation";
  const lenient = await made();
  await call(lenient, "reset");
  expect(await call(lenient, "step", { amount: 13 })).toMatchObject({ error: true });
  lenient.episode.close();
  const repeated = await restored(saved(lenient));
  expect(repeated.history.calls).toEqual(lenient.history.calls);
  await call(instance, "step", { amount: 99 });
  expect(await scoreOf(instance)).toEqual({ missing: expect.stringContaining("without a reward") });
  for (const one of [instance, lenient, repeated]) await openenv.release?.(one);
});
