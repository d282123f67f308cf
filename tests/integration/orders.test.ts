import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import type { TrajectoryTranscript } from "../../src/contracts/orders.ts";
import { type OpenRun, openRun } from "../../src/runs/open-runs.ts";
import { readSession } from "../../src/supervision/session-file.ts";
import { askTranscript, giveOrder } from "../../src/temporal/live-trajectories.ts";
import { findServerBinary } from "../../src/temporal/server-binary.ts";
import { readSegments } from "../../src/trajectory/segments.ts";
import { trainingTrajectory } from "../../src/trajectory/training-trajectory.ts";
import { readTrajectoryRecord } from "../../src/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../src/trajectory/trajectory-of.ts";
import { everturn, lastLine, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const callLog = join(folder, "calls.log");
const call = (expression: string) =>
  `<tool_call>{"name":"calculator","arguments":{"expression":"${expression}"}}</tool_call>`;

const question = (given: object) =>
  `<tool_call>${JSON.stringify({ name: "ask", arguments: given })}</tool_call>`;

/** Turns until a trajectory continues as new. */
const longHistory = 250;
const conversations = [
  [call("1 + 1"), call("2 * 3") + question({ question: "Which?" }) + question({ questions: 2 }), "6"],
  [...Array.from({ length: longHistory - 1 }, () => "<tool_call>?</tool_call>"), call("7 * 7"), "49"],
];

let command: RunningCommand;
let run: OpenRun;
let connection: Connection | undefined;
let client: Client;

beforeAll(async () => {
  const plugin = join(import.meta.dirname, "..", "plugins", "tool-counting");
  const pipeline = writeScriptedPipeline(folder, conversations, {
    tools: [
      { plugin, config: { log: callLog }, approval: "required" },
      { plugin: join(import.meta.dirname, "..", "..", "plugins", "tool-ask"), whom: "the reviewers" },
    ],
    rollout: { batchSize: 2, groupSize: 2, maxActionTokens: 200 },
  });
  command = start("run", pipeline, "--runs", runs, "--json");
  run = await until(async () => openRun(runs, readdirSync(runs)[0] ?? "none"));
  const address = await until(async () => (await readSession(run.folder))?.address);
  connection = await until(() => Connection.connect({ address }));
  client = new Client({ connection });
});
afterAll(async () => {
  await connection?.close();
  if (command.child.exitCode === null) command.killGroup();
});

/** Tries until there is an answer, while the run is under way. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    if (command.child.exitCode !== null) throw new Error((await command.end()).stderr);
    await sleep(200);
  }
}

/** The server's list of workflows is behind by up to a second. */
const listing = { timeout: 400_000, interval: 200 };

const id = (end: string) => `${run.id}/${end}`;

async function order(verb: string, end: string, ...more: string[]) {
  const { code, stdout, stderr } = await everturn(
    ...["trajectory", verb, id(end), ...more, "--runs", runs, "--json"],
  );
  return code === 0 ? lastLine<TrajectoryTranscript>(stdout) : stderr;
}

/** Waits until a trajectory is in a state, or until a call of it waits. */
function reached(end: string, wanted: string): Promise<TrajectoryTranscript> {
  return until(async () => {
    const answer = await askTranscript(client, id(end));
    return answer.state === wanted || answer.waiting[0]?.call === wanted ? answer : undefined;
  });
}

function record(end: string): Promise<TrajectoryRecord> {
  const [stage = "", task = "", sample = ""] = end.split("/");
  return until(() => readTrajectoryRecord(run.store, { stage, task, sample: Number(sample) }));
}

/** Temporal's own command line, as the UI would: plain JSON. */
async function temporal(...parameters: string[]): Promise<string> {
  const session = await readSession(run.folder);
  const binary = await findServerBinary();
  const all = [...parameters, "--address", session?.address ?? ""];
  return promisify(execFile)(binary, all).then(
    ({ stdout }) => stdout,
    (error) => String(error.stderr),
  );
}

test("orders by plain JSON, as from the Temporal UI; they survive a worker's death", async () => {
  const end = "evaluation-v0000/task-00000/0";
  await reached(end, "1/0");
  const update = (name: string, input?: object) =>
    temporal(
      ...["workflow", "update", "execute", "--workflow-id", id(end), "--name", name],
      ...(input === undefined ? [] : ["--input", JSON.stringify(input)]),
    );
  expect(await update("approve", { args: {} })).toContain(
    "it has no argument “args”; it takes call, arguments",
  );
  expect(await update("deny", { call: "1/0" })).toContain("it lacks “reason”");
  expect(await update("resume")).toContain("it is not paused");
  expect(await update("approve", { call: "1/0", arguments: { expression: "20 + 3" } })).toContain("UpdateID");
  await reached(end, "2/0");
  expect(await update("approve", { call: "1/0" })).toContain("the call 1/0 was edited before");
  const { waiting } = await until(async () => {
    const answer = await askTranscript(client, id(end));
    return answer.waiting.length === 2 ? answer : undefined;
  });
  expect(waiting).toMatchObject([
    { call: "2/0", tool: "calculator" },
    { call: "2/1", tool: "ask", arguments: { question: "Which?" }, isQuestion: true, whom: "the reviewers" },
  ]);
  expect(await update("approve", { call: "2/7" })).toContain("no call 2/7 waits; these wait: 2/0, 2/1");
  expect(await update("approve", { call: "2/1" })).toContain("the call 2/1 is a question: answer it");
  expect(await update("answer", { call: "2/0", text: "x" })).toContain("the call 2/0 is no question");
  const listed = () => temporal("workflow", "list", "--query", 'EverturnWaiting = "approval"');
  await expect.poll(listed, listing).toContain(id(end));
  expect(await temporal("workflow", "metadata", "--workflow-id", id(end))).toMatch(
    /approve .*Make a tool call that waits for approval[\s\S]*call 2\/0 waits for approval[\s\S]*call 2\/1 waits for an answer of the reviewers/,
  );
  await temporal(
    ...["workflow", "signal", "--workflow-id", id(end), "--name", "pause"],
    ...["--input", '{"reason":"lunch"}'],
  );
  expect(await update("approve", { call: "2/0" })).toContain("UpdateID");
  await reached(end, "waiting for an answer");
  for (const pid of await workerPids()) process.kill(pid, "SIGKILL");
  const asked = await temporal("workflow", "query", "--workflow-id", id(end), "--name", "transcript");
  expect(asked).toMatch(/"reason":"lunch","state":"waiting for an answer"/);
  const told = await everturn("trajectory", "answer", id(end), "The second.", "--runs", runs, "--json");
  expect(told.code, told.stderr).toBe(0);
  await reached(end, "paused");
  const answer = await temporal("workflow", "query", "--workflow-id", id(end), "--name", "transcript");
  expect(answer).toMatch(/"reason":"lunch","state":"paused"/);
  expect(await update("resume")).toContain("UpdateID");
  const { turns } = await record(end);
  expect(turns[1]?.toolCalls.slice(1)).toMatchObject([
    { tool: "ask", observation: "The second.", valid: true, attempts: 1, approval: "answered" },
    { tool: "ask", observation: expect.stringContaining("Did you mean “question”?"), valid: false },
  ]);
  expect(turns.map(({ toolCalls }) => toolCalls[0])).toEqual([
    ...[
      expect.objectContaining({ arguments: { expression: "20 + 3" }, observation: "23", approval: "edited" }),
    ],
    ...[
      expect.objectContaining({ arguments: { expression: "2 * 3" }, observation: "6", approval: "approved" }),
    ],
    undefined,
  ]);
  expect(await update("pause")).toMatch(/completed|not found|closed/i);
  expect(await order("pause", end)).toMatch(/TRAJECTORY_NOT_LIVE: .* it has ended \(answered, reward 0\)/);
});

/** The workers that the command has started. */
async function workerPids(): Promise<number[]> {
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(command.child.pid), "-f", "worker"]);
  return stdout.trim().split("\n").map(Number);
}

test("a call is denied, a message is added; orders go with a trajectory that continues as new", async () => {
  const stage = join(run.folder.root, "trajectories", "step-0001");
  const task = await until(async () => readdirSync(stage)[0]);
  const [first, second] = [`step-0001/${task}/0`, `step-0001/${task}/1`];
  await reached(first, "1/0");
  const approvals = async () => {
    const { stdout } = await everturn("approvals", run.id, "--runs", runs, "--json");
    return lastLine<{ calls: object[] }>(stdout).calls;
  };
  const waiting = { trajectory: id(first), call: "1/0", arguments: { expression: "1 + 1" } };
  await expect.poll(approvals, listing).toContainEqual(expect.objectContaining(waiting));
  const wrong = await order("approve", first, "--arguments", '{"expresion": "1"}');
  expect(wrong).toContain("Did you mean “expression”?");
  await giveOrder(client, id(first), "approve");
  await reached(first, "2/0");
  const system = giveOrder(client, id(first), "say", { text: "Hurry.", role: "system" });
  await expect(system).rejects.toThrow("leaves the message out");
  expect(await order("say", first, "Guess it.")).toMatchObject({
    messages: [{ role: "user", content: "Guess it." }],
  });
  await order("deny", first, "--reason", "no more calls", "--call", "2/0");
  await giveOrder(client, id(first), "deny", { reason: "nobody knows" });
  const denied = await record(first);
  expect(denied.turns[1]?.toolCalls[1]).toMatchObject({ observation: "nobody knows", approval: "denied" });
  expect(denied.turns[1]?.toolCalls.slice(0, 1)).toEqual([
    {
      ...{ tool: "calculator", arguments: { expression: "2 * 3" }, observation: "no more calls" },
      ...{ valid: true, attempts: 0, approval: "denied" },
    },
  ]);
  expect(denied.turns[2]?.said).toEqual([{ role: "user", content: "Guess it." }]);
  const segments = await readSegments(run.store, trajectoryOf(denied.id), denied.head);
  const said = segments.find(({ text }) => text.includes("Guess it."));
  expect(said).toMatchObject({ origin: "observation", text: expect.stringContaining("no more calls") });
  const { tokens, mask } = trainingTrajectory(
    { id: "", group: "", reward: 0 },
    { rows: [segments], actions: [] },
    1,
  );
  expect(mask.reduce((total, one) => total + one, 0)).toBe(denied.tokens.action);
  expect(tokens.length).toBe(denied.tokens.action + denied.tokens.observation + denied.tokens.prompt);

  await reached(second, `${longHistory}/0`);
  await giveOrder(client, id(second), "pause", { reason: "let me look" });
  await giveOrder(client, id(second), "say", { text: "Look again." });
  await giveOrder(client, id(second), "approve");
  const paused = await reached(second, "paused");
  expect(paused).toMatchObject({
    reason: "let me look",
    turn: longHistory,
    messages: [{ content: "Look again." }],
  });
  await giveOrder(client, id(second), "resume");
  const ended = await record(second);
  expect(ended.turns.at(-1)).toMatchObject({ action: "49", said: [{ content: "Look again." }] });
});

test("a cancelled trajectory is left out with the reason, and the run goes on", async () => {
  const end = "evaluation-v0001/task-00000/0";
  await reached(end, "1/0");
  await order("cancel", end, "--reason", "not needed");
  expect(await record(end)).toMatchObject({ outcome: "left-out", failure: "cancelled: not needed" });
  const { code, stdout } = await command.end();
  expect(code).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ steps: 1, trajectories: 2 });
  const calls = readFileSync(callLog, "utf8").trim().split("\n");
  expect(calls).toHaveLength(4);
  expect(new Set(calls).size).toBe(4);
});
