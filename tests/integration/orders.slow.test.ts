import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { Transcript } from "../../src/contracts/orders.ts";
import { readRunHolder } from "../../src/control/supervision/run-holder.ts";
import { askTranscript, giveOrder } from "../../src/control/temporal/live-trajectories.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { trainingTrajectory } from "../../src/run/projections/training-trajectory.ts";
import { readSegments } from "../../src/run/trajectory/segments.ts";
import { readTrajectoryRecord } from "../../src/run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { everturn, killIfRunning, lastLine, type RunningCommand, start } from "../support/command.ts";
import { forgetfulServer } from "../support/forgetful-server.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { leasesOf } from "../support/sessions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const callLog = join(folder, "calls.log");
const call = (expression: string) =>
  `<tool_call>{"name":"calculator","arguments":{"expression":"${expression}"}}</tool_call>`;

const question = (given: object) =>
  `<tool_call>${JSON.stringify({ name: "ask", arguments: given })}</tool_call>`;

/** Events after which the server asks a workflow to continue as new: the second trajectory's turns and three orders make more. */
const longHistory = 50;
const mostTurns = 40;
const add = `<tool_call>{"name":"session","arguments":{"variable":"x","add":1}}</tool_call>`;
const conversations = [
  [call("1 + 1"), call("2 * 3") + question({ question: "Which?" }) + question({ questions: 2 }), "6"],
  [...Array.from({ length: mostTurns - 1 }, () => "<tool_call>?</tool_call>"), call("7 * 7"), "49"],
  ['<tool_call>{"name":"count","arguments":{"text":"abc"}}</tool_call>', "2"],
  [add, add, call("1 + 1"), "2"],
];

let command: RunningCommand;
let run: OpenRun;
let connection: Connection | undefined;
let client: Client;

beforeAll(async () => {
  const plugin = (name: string) => join(import.meta.dirname, "..", "plugins", name);
  const pipeline = writeScriptedPipeline(folder, conversations, {
    tools: [
      { plugin: plugin("tool-counting"), config: { log: callLog }, approval: "required" },
      {
        plugin: plugin("tool-counted"),
        config: { log: join(folder, "counted.log") },
        approval: "required",
        approvalTimeout: "1s",
      },
      { plugin: plugin("tool-session"), config: { log: join(folder, "session.log") } },
      { plugin: join(import.meta.dirname, "..", "..", "plugins", "tool-ask"), whom: "the reviewers" },
    ],
    rollout: { batchSize: 4, groupSize: 4, minGroup: 1, maxActionTokens: 200 },
  });
  const server = await forgetfulServer(folder, longHistory);
  command = start("run", pipeline, "--runs", runs, "--temporal", server, "--json");
  run = await until(async () => openRunFolder(runs, readdirSync(runs)[0] ?? "none"));
  const address = await until(async () => (await readRunHolder(run.folder))?.address);
  connection = await until(() => Connection.connect({ address }));
  client = new Client({ connection });
});
afterAll(async () => {
  await connection?.close();
  killIfRunning(command);
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
const listing = { timeout: 250_000, interval: 200 };

const id = (end: string) => `${run.id}/${end}`;

async function order(verb: string, end: string, ...more: string[]) {
  const { code, stdout, stderr } = await everturn(
    "trajectory",
    verb,
    id(end),
    ...more,
    "--runs",
    runs,
    "--json",
  );
  return code === 0 ? lastLine<Transcript>(stdout) : stderr;
}

/** Waits until a trajectory is in a state, or until a call of it waits. */
function reached(end: string, wanted: string): Promise<Transcript> {
  return until(async () => {
    const answer = await askTranscript(client, id(end));
    return answer.state === wanted || answer.waiting[0]?.call === wanted ? answer : undefined;
  });
}

function record(end: string): Promise<Trajectory> {
  const [stage = "", task = "", sample = ""] = end.split("/");
  return until(() => readTrajectoryRecord(run.store, { stage, task, sample: Number(sample) }));
}

/** Temporal's own command line, as the UI would: plain JSON. */
async function temporal(...parameters: string[]): Promise<string> {
  const holder = await readRunHolder(run.folder);
  const binary = await findServerBinary();
  const all = [...parameters, "--address", holder?.address ?? ""];
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
      "workflow",
      "update",
      "execute",
      "--workflow-id",
      id(end),
      "--name",
      name,
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
    "workflow",
    "signal",
    "--workflow-id",
    id(end),
    "--name",
    "pause",
    "--input",
    '{"reason":"lunch"}',
  );
  expect(await update("approve", { call: "2/0" })).toContain("UpdateID");
  await reached(end, "waiting for an answer");
  process.kill(await workerPid(), "SIGKILL");
  await reached(end, "waiting for an answer");
  const asked = await temporal("workflow", "query", "--workflow-id", id(end), "--name", "transcript");
  expect(asked).toMatch(/"reason":"lunch","state":"waiting for an answer"/);
  expect(await order("answer", end, "The second.")).toBeInstanceOf(Object);
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
    expect.objectContaining({ arguments: { expression: "20 + 3" }, observation: "23", approval: "edited" }),
    expect.objectContaining({ arguments: { expression: "2 * 3" }, observation: "6", approval: "approved" }),
    undefined,
  ]);
  expect(await update("pause")).toMatch(/completed|not found|closed/i);
  expect(await order("pause", end)).toMatch(/TRAJECTORY_NOT_LIVE: .* it has ended \(answered, reward 0\)/);
});

/** The worker that runs the workflows, of those that the command has started. */
async function workerPid(): Promise<number> {
  const its = ["-P", String(command.child.pid), "-f", "worker --role orchestration"];
  return Number((await promisify(execFile)("pgrep", its)).stdout);
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
      tool: "calculator",
      arguments: { expression: "2 * 3" },
      observation: "no more calls",
      valid: true,
      attempts: 0,
      approval: "denied",
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

  await reached(second, `${mostTurns}/0`);
  const before = await executionOf(second);
  await giveOrder(client, id(second), "pause", { reason: "let me look" });
  await giveOrder(client, id(second), "say", { text: "Look again." });
  await giveOrder(client, id(second), "approve");
  const paused = await reached(second, "paused");
  expect(paused).toMatchObject({
    reason: "let me look",
    turn: mostTurns,
    messages: [{ content: "Look again." }],
  });
  expect(await executionOf(second), "it continued as new").not.toBe(before);
  await giveOrder(client, id(second), "resume");
  const ended = await record(second);
  expect(ended.turns.at(-1)).toMatchObject({ action: "49", said: [{ content: "Look again." }] });
});

async function executionOf(end: string): Promise<string> {
  return (await client.workflow.getHandle(id(end)).describe()).runId;
}

test("a call that nobody approves in time is not made, and the model reads so; cancelling frees what a trajectory holds", async () => {
  const { root } = run.folder;
  const [task = ""] = readdirSync(join(root, "trajectories", "step-0001"));
  expect((await record(`step-0001/${task}/2`)).turns[0]?.toolCalls[0]).toMatchObject({
    approval: "timed-out",
    observation: "error: nobody approved the call within 1 s",
  });
  expect(existsSync(join(folder, "counted.log")), "a call was made that nobody approved").toBe(false);

  const holding = `step-0001/${task}/3`;
  await reached(holding, "3/0");
  const [lease] = leasesOf({ root });
  expect(lease?.trajectory).toBe(id(holding));
  const pid = Number(JSON.parse(JSON.stringify(lease?.handle)).pid);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  // The worker that runs the workflow begins its calls without a way through the server: none goes to another queue.
  expect(await queuesOf(id(holding), "session")).toEqual(new Set([`${run.id}/rollout`]));
  await order("cancel", holding);
  expect(await record(holding)).toMatchObject({ outcome: "left-out" });
  await expect.poll(() => leasesOf({ root }), listing).toEqual([]);
  await expect.poll(() => existsSync(`/proc/${pid}`), listing).toBe(false);
});

/** The queues to which a trajectory's calls of a tool went, in all of its executions. */
async function queuesOf(trajectory: string, tool: string): Promise<Set<string | null | undefined>> {
  const queues = new Set<string | null | undefined>();
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${trajectory}"` })) {
    const { events } = await client.workflow.getHandle(trajectory, runId).fetchHistory();
    for (const { activityTaskScheduledEventAttributes: scheduled } of events ?? [])
      if (scheduled?.activityType?.name === tool) queues.add(scheduled.taskQueue?.name);
  }
  return queues;
}

test("a cancelled trajectory is left out with the reason, and the run goes on", async () => {
  const end = "evaluation-v0001/task-00000/0";
  await reached(end, "1/0");
  await order("cancel", end, "--reason", "not needed");
  expect(await record(end)).toMatchObject({ outcome: "left-out", failure: "cancelled: not needed" });
  const { code, stdout } = await command.end();
  expect(code).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ steps: 1, trajectories: 3 });
  const calls = readFileSync(callLog, "utf8").trim().split("\n");
  expect(calls).toHaveLength(4);
  expect(new Set(calls).size).toBe(4);
});
