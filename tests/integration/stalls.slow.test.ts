import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure, Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { heedMark, markFolder } from "../../src/base/files/marked-folder.ts";
import { patiently } from "../../src/base/files/patiently.ts";
import { writeWhole } from "../../src/base/files/whole-files.ts";
import { codecKeys } from "../../src/control/encryption/codec-keys.ts";
import { dataConverter } from "../../src/control/encryption/data-converter.ts";
import type { Encryption } from "../../src/control/encryption/encryption-codec.ts";
import { loggedNotes } from "../../src/control/supervision/logged-notes.ts";
import { watchStandstill } from "../../src/control/supervision/standstill.ts";
import { connectClient } from "../../src/control/temporal/client.ts";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { serverLimits } from "../../src/control/temporal/server-limits.ts";
import { watchServer } from "../../src/control/temporal/server-watch.ts";
import type { Stalling } from "../support/stalling-workflow.ts";
import { startGateway } from "../support/temporal-gateway.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Everything that can stall a run, on a real server, with the watches of a command and workers that stand in for the
 * run's. Each kind must be named on the screen and in the log within ten seconds:
 *
 *  1. A tool keeps failing.
 *  2. A call waits for its turn at a tool's host.
 *  3. No worker polls a queue.
 *  4. A worker stopped sending heartbeats.
 *  5. The Temporal server does not respond.
 *  6. The server limits the calls in the namespace.
 *  7. The store can't be written.
 *  8. The store can't be read, because its folder is gone.
 *  9. Workers have only other builds of the workflow code.
 * 10. Somebody paused an activity.
 * 11. Trajectories wait for a person.
 * 12. A workflow's tasks fail.
 * 13. A worker lacks the key of the payloads: an orchestration worker, and one of another role.
 */

/** In ms. */
const bound = 10_000;
const folder = temporaryFolder();
const workflowsPath = join(import.meta.dirname, "..", "support", "stalling-workflow.ts");

let server: DevServer;
let native: NativeConnection;

beforeAll(async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  server = await startDevServer({ binary: await findServerBinary(), ...paths });
  native = await NativeConnection.connect({ address: server.address });
});

afterAll(async () => {
  await native.close();
  await server.stop();
});

const activities = {
  search: async () => {
    throw ApplicationFailure.create({ type: "TOOL_FAILED", message: "The tool search failed: 503." });
  },
  code: async () => {
    const { heartbeat, cancelled } = Context.current();
    heartbeat("3 calls use the host, and no more may");
    await cancelled;
  },
  silent: () => Context.current().cancelled,
};

/** Runs a worker during the test. Returns how to end it earlier. */
async function work(queue: string, options: Partial<WorkerOptions> = {}): Promise<() => Promise<void>> {
  const common = { connection: native, taskQueue: queue, shutdownGraceTime: 1, shutdownForceTime: 1000 };
  const worker = await Worker.create({ ...common, workflowsPath, activities, ...options });
  const ended = worker.run().catch(() => {}); // activities that wait forever are cut off
  let isOver = false;
  const end = async () => {
    if (!isOver) worker.shutdown();
    isOver = true;
    await ended;
  };
  onTestFinished(end);
  return end;
}

/** The watches of a command that works on a run through the server at `address`. */
async function watchRun(run: string, address = server.address, encryption?: Encryption) {
  const log = join(folder, run, "session.log");
  const screen: string[] = [];
  const note = loggedNotes(log, (text) => screen.push(text));
  const closing = new AbortController();
  const limits = serverLimits("default", note);
  const location = { address, namespace: "default", isOwn: false };
  const options = { outlastsOutages: true, onLimited: limits.hear, encryption };
  const { client, connection, close } = await connectClient(location, [], closing.signal, options);
  const watch = watchServer(connection, address, note);
  const standstill = watchStandstill({
    client,
    run,
    queue: queueOf(run),
    progress: () => 0,
    isServerUp: watch.isUp,
    limits,
    closing: closing.signal,
    note,
  });
  onTestFinished(async () => {
    closing.abort();
    await Promise.all([standstill.stop(), watch.stop()]);
    await close();
  });
  /**
   * Waits until a line is on the screen and in the log, and checks that it took at most ten seconds since `from`, apart from the
   * time by which busy cores delayed the timers of this process.
   */
  const isNamed = async (line: RegExp, from: number) => {
    let delay = 0;
    while (!screen.some((text) => line.test(text)) && performance.now() - from < 60_000) {
      const before = performance.now();
      await sleep(50);
      delay += Math.max(0, performance.now() - before - 60);
    }
    expect(screen.join("\n")).toMatch(line);
    expect(performance.now() - from - delay, `named within ${bound} ms`).toBeLessThan(bound);
    expect(readFileSync(log, "utf8")).toMatch(line);
  };
  return { client, isNamed, note };
}

const queueOf = (run: string) => `${run}/rollout`;

function start(client: Client, run: string, stalling: Stalling = {}, waiting?: string) {
  const keyword = (name: string, value: string) => ({
    key: defineSearchAttributeKey(name, "KEYWORD"),
    value,
  });
  return client.workflow.start("trajectory", {
    workflowId: `${run}/one`,
    taskQueue: queueOf(run),
    args: [stalling],
    typedSearchAttributes: [
      keyword("EverturnRun", run),
      ...(waiting === undefined ? [] : [keyword("EverturnWaiting", waiting)]),
    ],
  });
}

/** The server's time that `ask` finds, on the clock of `performance.now()`; waits until it finds one. */
async function momentOf(ask: () => Promise<Parameters<typeof tsToMs>[0]>): Promise<number> {
  const time = await vi.waitUntil(ask, { timeout: 60_000 });
  return performance.now() - (Date.now() - tsToMs(time));
}

test("1: a tool keeps failing", async () => {
  const { client, isNamed } = await watchRun("failing");
  await work(queueOf("failing"));
  const options = { retry: { initialInterval: "200ms" } } as const;
  const handle = await start(client, "failing", { activity: "search", options });
  const from = await momentOf(async () => {
    const { events } = await handle.fetchHistory();
    return events?.find((event) => event.activityTaskScheduledEventAttributes)?.eventTime;
  });
  await isNamed(
    /waiting for search \(tools\) of one: attempt \d+ after \d+ s; The tool search failed: 503/,
    from,
  );
});

test("2: a call waits for its turn at a tool's host", async () => {
  const { client, isNamed } = await watchRun("full");
  await work(queueOf("full"));
  const handle = await start(client, "full", { activity: "code" });
  const from = await momentOf(
    async () => (await handle.describe()).raw.pendingActivities?.[0]?.lastStartedTime,
  );
  await isNamed(
    /waiting for code \(tools\) of one: running for \d+ s; 3 calls use the host, and no more may/,
    from,
  );
});

test("3: no worker polls a queue", async () => {
  const { client, isNamed } = await watchRun("unserved");
  await work(queueOf("unserved"));
  const from = performance.now();
  await start(client, "unserved", { activity: "train-step", options: { taskQueue: "unserved/trainer" } });
  await isNamed(
    /waiting for train-step \(trainer\) of one: no trainer worker has taken it for \d+ s; no worker polls the queue unserved\/trainer/,
    from,
  );
});

test("4: a worker stopped sending heartbeats", async () => {
  const { client, isNamed } = await watchRun("silent");
  await work(queueOf("silent"));
  await start(client, "silent", { activity: "silent", options: { heartbeatTimeout: "3s" } });
  const from = performance.now();
  await isNamed(/waiting for silent \(tools\) of one: .*activity Heartbeat timeout/, from);
});

test("5: the Temporal server does not respond", async () => {
  const { isNamed } = await watchRun("stopped");
  const from = performance.now();
  process.kill(server.pid, "SIGSTOP");
  await isNamed(/the Temporal server at \S+ does not respond: waiting for it/, from).finally(() =>
    process.kill(server.pid, "SIGCONT"),
  );
});

test("6: the server limits the calls in the namespace", async () => {
  const gateway = await startGateway(server.address);
  const { isNamed } = await watchRun("limited", gateway.address);
  const from = performance.now();
  gateway.refuse((call) =>
    call === "GetSystemInfo" ? undefined : { code: 8, message: "namespace rate limit exceeded" },
  );
  await isNamed(
    /waiting for the Temporal server, which limits the calls in the namespace default: namespace rate limit exceeded/,
    from,
  );
  onTestFinished(gateway.stop);
});

/** Passes the notices of this process on, as a worker's are passed on to its command. */
function hearNotices(note: (text: string) => void): void {
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    note(String(text).trim());
    return true;
  });
  onTestFinished(() => write.mockRestore());
}

test.skipIf(process.platform !== "linux")("7: the store can't be written", async () => {
  const { isNamed, note } = await watchRun("unwritable");
  hearNotices(note);
  const from = performance.now();
  const readOnly = "/sys/everturn-record.json"; // not even root may create files there
  const writing = patiently(
    () => writeWhole(readOnly, "{}"),
    () => bound,
  );
  await isNamed(/STORE_NOT_WRITABLE: /, from);
  await expect(writing).rejects.toThrow("everturn-record.json");
});

test("8: the store can't be read, because its folder is gone", async () => {
  const { isNamed, note } = await watchRun("lost");
  const store = join(folder, "mounted");
  mkdirSync(store);
  markFolder(store);
  const forget = heedMark(store);
  onTestFinished(forget);
  hearNotices(note);
  renameSync(store, `${store}-away`);
  const from = performance.now();
  const writing = patiently(() => writeWhole(join(store, "record.json"), "{}"));
  await isNamed(/STORE_NOT_(READABLE|WRITABLE): /, from);
  renameSync(`${store}-away`, store);
  await writing;
});

test("9: workers have only other builds of the workflow code", async () => {
  const run = "rebuilt";
  const { client, isNamed } = await watchRun(run);
  const ofBuild = (buildId: string): Partial<WorkerOptions> => ({
    workerDeploymentOptions: {
      version: { deploymentName: run, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: "PINNED",
    },
  });
  const endOld = await work(queueOf(run), ofBuild("old-build"));
  const current = { namespace: "default", deploymentName: run, identity: "test", allowNoPollers: true };
  await client.workflowService.setWorkerDeploymentCurrentVersion({ ...current, buildId: "old-build" });
  const options = { retry: { initialInterval: "200ms" } } as const;
  const handle = await start(client, run, { activity: "search", options });
  const hasBegun = async () => (await handle.describe()).historyLength > 4;
  await vi.waitUntil(hasBegun, { timeout: 60_000 });
  await endOld();
  await work(queueOf(run), ofBuild("new-build"));
  const from = performance.now();
  await handle.signal("wake");
  await isNamed(
    /waiting for a workflow task \(orchestration\) of one: no orchestration worker has taken it for \d+ s; (its code is build old-build, and the workers have .*new-build|a worker last polled)/,
    from,
  );
});

test("10: somebody paused an activity", async () => {
  const run = "paused";
  const { client, isNamed } = await watchRun(run);
  await work(queueOf(run));
  const options = { taskQueue: "paused/policy" };
  const handle = await start(client, run, { activity: "generate-turn", options });
  const pending = async () => (await handle.describe()).raw.pendingActivities?.[0]?.activityId;
  await vi.waitUntil(pending, { timeout: 60_000 });
  const id = await pending();
  const execution = { workflowId: `${run}/one` };
  await client.workflowService.pauseActivity({ namespace: "default", execution, id: id ?? "" });
  const from = performance.now();
  await isNamed(
    /waiting for generate-turn \(policy\) of one: paused for \d+ s; resume it with `temporal activity unpause --workflow-id paused\/one --activity-id \d+`/,
    from,
  );
});

test("11: trajectories wait for a person", async () => {
  const run = "asking";
  const { client, isNamed } = await watchRun(run);
  await work(queueOf(run));
  await start(client, run, {}, "approval");
  const from = performance.now();
  await isNamed(
    /1 trajectory waits for a person to approve, to answer or to resume: npx everturn approvals asking/,
    from,
  );
});

test("12: a workflow's tasks fail", async () => {
  const { client, isNamed } = await watchRun("broken");
  await work(queueOf("broken"));
  const from = performance.now();
  await start(client, "broken", { throws: "the loop has a mistake" });
  await isNamed(
    /waiting for a workflow task \(orchestration\) of one: attempt \d+ after \d+ s; the loop has a mistake/,
    from,
  );
});

/** How a process that has the keys of `ids` encrypts: with the first one. */
function encryptionWith(secrets: ReadonlyMap<string, string>, ids: string[], who: string): Encryption {
  const keys = codecKeys({ EVERTURN_CODEC_KEYS: ids.map((id) => `${id}:${secrets.get(id)}`).join(",") });
  const [key] = keys;
  if (key === undefined) throw new Error("no key");
  return { key, keys, who };
}

test.each([
  ["orchestration", "a workflow task"],
  ["tools", "search"],
])("13: a worker of the role %s lacks the key of the payloads", async (role, what) => {
  const run = `keyless-${role}`;
  const secrets = new Map(["old", "new"].map((id) => [id, randomBytes(32).toString("base64")]));
  const whole = encryptionWith(secrets, ["new", "old"], "The command");
  const late = { dataConverter: dataConverter(encryptionWith(secrets, ["old"], `The ${role} worker`)) };
  const { client, isNamed } = await watchRun(run, server.address, whole);
  const lacksTools = role === "tools";
  await work(queueOf(run), lacksTools ? { dataConverter: dataConverter(whole) } : late);
  if (lacksTools) await work(`${run}/tools`, late);
  const from = performance.now();
  await start(client, run, {
    activity: "search",
    options: { taskQueue: `${run}/tools`, retry: { initialInterval: "200ms" } },
  });
  const reason = `The ${role} worker can't decrypt a payload: EVERTURN_CODEC_KEYS does not contain the key “new”`;
  await isNamed(
    new RegExp(`waiting for ${what} \\(${role}\\) of one: attempt \\d+ after \\d+ s; .*${reason}`),
    from,
  );
});
