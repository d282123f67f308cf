import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { defined } from "../../src/base/records/defined.ts";
import { workflowBundle } from "../../src/control/temporal/workflow-bundle.ts";
import { type ScriptedTemporal, startScriptedTemporal } from "../support/scripted-temporal.ts";

const { PollWorkflowTaskQueueResponse } = proto.temporal.api.workflowservice.v1;
const {
  COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION: startChild,
  COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK: scheduleActivity,
} = proto.temporal.api.enums.v1.CommandType;

interface Event {
  eventId: string;
  eventType: string;
  workflowExecutionSignaledEventAttributes?: object;
}

/**
 * The history of a training workflow that hung. Its second step has 160 trajectories; their results came with signals
 * and with the ends of two shards, events 307 and 311.
 */
const recorded: Event[] = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, "lost-signals.json.gz"))).toString(),
).events;

/** The last task that was completed before six timed out. */
const lastCompleted = 229;

const numberOf = ({ eventId }: Event) => Number(eventId);
const between = (first: number, last: number) =>
  recorded.filter((one) => numberOf(one) >= first && numberOf(one) <= last);
const event = (eventId: number, type: string, attributes: object) => ({
  eventId: String(eventId),
  eventTime: "2026-11-28T21:24:43.900Z",
  eventType: `EVENT_TYPE_WORKFLOW_TASK_${type}`,
  ...attributes,
});
/** A task that is scheduled and started, as these two events say. */
const attempt = (first: number): Event[] => [
  event(first, "SCHEDULED", {
    workflowTaskScheduledEventAttributes: { taskQueue: { name: "q" }, attempt: 1 },
  }),
  event(first + 1, "STARTED", { workflowTaskStartedEventAttributes: { scheduledEventId: String(first) } }),
];

/** A signal that tells of no trajectory. */
function withoutResults(signal: Event): Event {
  const told = { execution: "another execution", ended: [] };
  const data = Buffer.from(JSON.stringify(told)).toString("base64");
  const payload = { metadata: { encoding: Buffer.from("json/plain").toString("base64") }, data };
  const attributes = { signalName: "trajectories-ended", input: { payloads: [payload] } };
  return { ...signal, workflowExecutionSignaledEventAttributes: attributes };
}

/** What the server hands out: `events` up to the start of a task, or none with a query. */
function task(events: Event[], previousStartedEventId: number, query?: { queryType: string }) {
  return PollWorkflowTaskQueueResponse.fromObject(
    defined({
      taskToken: Buffer.from("task"),
      workflowExecution: { workflowId: "run", runId: "run-id" },
      workflowType: { name: "training" },
      workflowExecutionTaskQueue: { name: "q", kind: 1 },
      scheduledTime: { seconds: 1 },
      startedTime: { seconds: 2 },
      attempt: 1,
      previousStartedEventId,
      startedEventId: query === undefined ? numberOf(events.at(-1) ?? event(0, "", {})) : 0,
      query,
      history: historyFromJSON({ events }),
    }),
  );
}

let code = "";
beforeAll(async () => {
  const workflow = join(import.meta.dirname, "..", "..", "plugins", "loop-tool-agent", "workflow.ts");
  code = await workflowBundle([{ name: "loop-tool-agent", workflow }], false);
  Runtime.install({ logger: new DefaultLogger("ERROR") });
});

/** A worker of today's workflow code, and a server that has a history for it. */
async function startWorker(history: Event[]): Promise<ScriptedTemporal> {
  const server = await startScriptedTemporal(historyFromJSON({ events: history }));
  const connection = await NativeConnection.connect({ address: server.address });
  const worker = await Worker.create({ connection, taskQueue: "q", workflowBundle: { code } });
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
    await connection.close();
    server.stop();
  });
  return server;
}

test("a training workflow that missed signals is rebuilt from its history when its shards have ended", async () => {
  // The second attempt at the task that timed out at event 242, which the server hands out and never records: the real
  // events 243 and 244 are signals with three results.
  const server = await startWorker([...between(1, 242), ...attempt(243)]);
  // The workflow is in no cache when the query comes, so the worker asks for the history.
  expect(await server.give(task([], lastCompleted, { queryType: "progress" }))).toMatchObject({
    call: "RespondQueryTaskCompleted",
  });
  let before = lastCompleted;
  const answers = [];
  for (const started of [259, 263, 267, 271, 275, 279, 284, 289, 293, 297, 301, 305, 309]) {
    const events = between(started === 259 ? 1 : before + 1, started);
    answers.push(await server.give(task(events, before)));
    before = started;
  }
  const failed = event(310, "FAILED", {
    workflowTaskFailedEventAttributes: { scheduledEventId: "308", startedEventId: "309" },
  });
  const rebuilt = await server.give(task([...between(1, 309), failed, ...attempt(311)], 305));
  const completed = event(313, "COMPLETED", {
    workflowTaskCompletedEventAttributes: { scheduledEventId: "311", startedEventId: "312" },
  });
  const [lastShard] = between(311, 311);
  const after = await server.give(
    task(
      [completed, { ...lastShard, eventId: "314", eventType: lastShard?.eventType ?? "" }, ...attempt(315)],
      312,
    ),
  );

  const done = { call: "RespondWorkflowTaskCompleted", commands: [] };
  expect(answers.slice(0, -1)).toEqual(Array(12).fill(done));
  // The shard that has ended, at event 307, told of one trajectory with signal 244.
  const failure = "Lost results: 1. Rebuilding from the history.";
  expect(answers.at(-1)).toEqual({ call: "RespondWorkflowTaskFailed", failure });
  expect(rebuilt).toEqual(done);
  expect(after).toEqual({ ...done, commands: [startChild] });
});

test("results that even the history of a training workflow lacks are read from the run's records", async () => {
  const events = between(1, 309).map((one) => (numberOf(one) === 244 ? withoutResults(one) : one));
  const server = await startWorker(events);
  const answer = await server.give(task(events, 305));
  expect(answer).toEqual({ call: "RespondWorkflowTaskCompleted", commands: [scheduleActivity] });
});
