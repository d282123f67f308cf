import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, Connection, Client as TemporalClient } from "@temporalio/client";
import { afterAll, expect, test, vi } from "vitest";
import { machineFolder } from "../../src/base/processes/machine-folder.ts";
import { heldRunAddress } from "../../src/control/supervision/run-holder.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { killAll } from "../support/processes.ts";
import { callsRecorded, leasesOf, sessionLog, sessionsOf } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";

/** How many trajectories call a session each; more of them: EVERTURN_TEST_TRAJECTORIES=200. */
const count = Number(process.env.EVERTURN_TEST_TRAJECTORIES ?? 24);

const folder = mkdtempSync(join(tmpdir(), "everturn-two-tool-workers-"));
const runs = join(folder, "runs");
const log = join(folder, "sessions.log");
const gates = join(folder, "gates");
const commands: RunningCommand[] = [];
const waiting = { timeout: 250_000, interval: 50 };

afterAll(async () => {
  commands.forEach(killIfRunning);
  for (const run of namesIn(runs)) killAll(sessionsOf(run), "SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** Turn N adds 10^(N-1): what a session answers says which calls it was asked. */
const added = [1, 10, 100, 1000];
const answers = ["x = 1", "x = 11", "x = 111", "x = 1111"];
const actions = added.map((add) => {
  const call = { name: "session", arguments: { variable: "x", add } };
  return `<tool_call>${JSON.stringify(call)}</tool_call>`;
});

test("two tools workers: each call finds its instance at once; one is killed, one stopped and continued, and nothing happens twice", async () => {
  mkdirSync(gates);
  for (const turn of [1, 3, 4]) writeFileSync(gate(turn), "");
  const command = startRun();
  const run = await vi.waitUntil(() => namesIn(runs)[0], waiting);
  const place = runFolder(runs, run);
  const address = await vi.waitUntil(() => heldRunAddress(place), waiting);
  const second = started("worker", "--role", "tools", "--run", run, "--runs", runs);
  await vi.waitUntil(() => second.stdout().includes("polls"), waiting);

  rmSync(gate(1));
  await vi.waitUntil(() => callsRecorded(place, "step-0001", 2) === count, waiting);
  const calm = ofStep();
  const opened = calm.filter(({ what }) => what === "open");
  expect(opened).toHaveLength(count);
  expect(calm.filter(({ what }) => what === "replay")).toEqual([]);
  const stopped = second.child.pid;
  if (stopped === undefined) throw new Error("the second worker did not start");
  const byStopped = opened.filter(({ pid }) => pid === stopped).length;
  expect([byStopped > 0, byStopped < count], "both workers hold instances").toEqual([true, true]);
  const killed = opened.find(({ pid }) => pid !== stopped)?.pid;
  if (killed === undefined) throw new Error("the first worker holds no instance");
  const connection = await Connection.connect({ address });
  const client = new TemporalClient({ connection });
  // A call is in the journal before Temporal hears of it, and in the history with its start after that.
  const asked = await vi.waitUntil(async () => {
    const activities = await sessionActivities(client);
    return activities.every(({ isBegun }) => isBegun) ? activities : undefined;
  }, waiting);
  await connection.close();
  expect(
    asked.filter(({ isLate }) => !isLate),
    "one activity a call",
  ).toHaveLength(2 * count);
  expect(asked.flatMap(({ failure }) => failure ?? [])).toEqual([]);
  expect(asked.filter(({ queue }) => queue.includes("tools@"))).toHaveLength(count);

  process.kill(killed, "SIGKILL");
  process.kill(stopped, "SIGSTOP");
  rmSync(gate(3));
  await vi.waitUntil(() => callsRecorded(place, "step-0001", 3) === count, waiting);
  const taken = ofStep().slice(calm.length);
  expect(taken.filter(({ pid }) => [killed, stopped].includes(pid))).toEqual([]);
  expect(
    taken.filter(({ what }) => what === "open"),
    "each is recovered once",
  ).toHaveLength(count);

  const left = () => leasesOf(place).filter(({ owner }) => owner.pid === stopped).length;
  expect(left(), "what the stopped one holds is left to it").toBe(byStopped);
  expect(sessionsOf(run)).toHaveLength(count + byStopped);
  process.kill(stopped, "SIGCONT");
  await vi.waitUntil(() => left() === 0 && sessionsOf(run).length <= count, waiting);
  expect(sessionsOf(run), "it lets go of its own, and of nothing else").toHaveLength(count);

  rmSync(gate(4));
  const { code, stderr, stdout } = await command.end();
  expect(code, stderr + stdout).toBe(0);
  second.child.kill("SIGTERM");
  await second.end();
  const after = ofStep().slice(calm.length);
  expect(after.filter(({ pid }) => [killed, stopped].includes(pid))).toEqual([]);
  const made = ofStep().filter(({ what }) => what === "live");
  expect(made).toHaveLength(added.length * count);
  expect(new Set(made.map(({ name }) => name)).size).toBe(added.length * count);
  const observed = (await stageRecords(place.root, "step-0001")).map(({ turns }) =>
    turns.flatMap(({ toolCalls }) => toolCalls.map(({ observation }) => observation)),
  );
  expect(observed).toEqual(Array(count).fill(answers));
  expect(leasesOf(place)).toEqual([]);
  expect(namesIn(machineFolder(place.root)).length).toBeLessThanOrEqual(1); // the number of the worker that ended last
  expect(sessionsOf(run)).toEqual([]);
});

function startRun(): RunningCommand {
  const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");
  const session = join(import.meta.dirname, "..", "plugins", "tool-session");
  const settings = [
    "name=two",
    `policy.config.conversations=${JSON.stringify([[...actions, "done"]])}`,
    `policy.config.gates=${gates}`,
    `tools=${JSON.stringify([{ plugin: session, config: { log } }])}`,
    `rollout.batchSize=${count}`,
    `rollout.concurrency=${2 * count}`,
    "evaluation.tasks=1",
  ].flatMap((setting) => ["--set", setting]);
  return started("run", pipeline, "--runs", runs, "--workers", "separate", ...settings);
}

function started(...parameters: string[]): RunningCommand {
  const command = start(...parameters);
  commands.push(command);
  return command;
}

function gate(turn: number): string {
  return join(gates, `step-0001-turn-${turn}`);
}

/** What was done for the step's trajectories so far. */
function ofStep() {
  return sessionLog(log).filter(({ name }) => name.includes("/step-0001/"));
}

interface SessionActivity {
  queue: string;
  isBegun: boolean;
  /** On busy cores the worker that began it may be silent for longer than it may be: then another one is asked. */
  isLate: boolean;
  /** What an attempt failed by, but for being late. */
  failure: string | undefined;
}

/** The activities of the step's calls so far. */
async function sessionActivities(client: Client): Promise<SessionActivity[]> {
  const activities: SessionActivity[] = [];
  const trajectories = new Set(ofStep().flatMap(({ what, name }) => (what === "open" ? [name] : [])));
  for (const id of trajectories) {
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    for (const event of events ?? []) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name !== "session") continue;
      const isOf = (eventId: unknown) => String(eventId) === String(event.eventId);
      const begun = events?.find((one) => isOf(one.activityTaskStartedEventAttributes?.scheduledEventId));
      const { lastFailure } = begun?.activityTaskStartedEventAttributes ?? {};
      activities.push({
        queue: scheduled.taskQueue?.name ?? "",
        isBegun: begun !== undefined,
        isLate:
          events?.some((one) => isOf(one.activityTaskTimedOutEventAttributes?.scheduledEventId)) ?? false,
        failure: lastFailure?.timeoutFailureInfo ? undefined : (lastFailure?.message ?? undefined),
      });
    }
  }
  return activities;
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // it is not there yet
  }
}
