import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { expect, test, vi } from "vitest";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { roles } from "../../src/run/folder/queues.ts";
import { isRun } from "../../src/run/folder/run-file.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { startedCommands } from "../support/started-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const remember = startedCommands();
const waiting = { timeout: 250_000, interval: 50 };

function started(...parameters: string[]): RunningCommand {
  return remember(start(...parameters, "--runs", runs));
}

test("workers drain at SIGTERM in the middle of turns: nothing is lost, and nothing is repeated", async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  const server = await startDevServer({ binary: await findServerBinary(), ...paths });
  const call = '<tool_call>{"name":"calculator","arguments":{"expression":"2 + 2"}}</tool_call>';
  const conversations = [[call, call, call, "4"]];
  // Turns that the first worker generates, until it drains: others begin after it has begun them.
  const gates = join(folder, "gates");
  const gate = join(gates, "step-0001-turn-2");
  mkdirSync(gates);
  writeFileSync(gate, "");
  const pipeline = writeScriptedPipeline(folder, conversations, {
    tools: [{ plugin: "tool-calculator" }],
    policy: scriptedPolicy({ conversations, seconds: 3, gates }),
    rollout: { batchSize: 4 },
  });
  const place = ["--id", "drained", "--workers", "elsewhere", "--address", server.address];
  const command = started("run", pipeline, ...place, "--json");
  await vi.waitUntil(() => isRun(runs, "drained"), waiting);
  const worker = (role: string) => started("worker", "--role", role, "--run", "drained");
  const first = roles.map((role) => ({ role, command: worker(role) }));
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const query = 'WorkflowType = "trajectory" AND EverturnStage = "step-0001"';
  const generating = async () => {
    for await (const { workflowId } of client.workflow.list({ query })) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      if (raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime)) return true;
    }
    return false;
  };
  await vi.waitUntil(generating, waiting);
  const second = roles.map(worker);
  await vi.waitUntil(() => second.every((one) => one.stdout().includes("polls")), waiting);
  await vi.waitUntil(generating, waiting);
  const draining = Date.now();
  for (const { role, command: drained } of first) {
    drained.child.kill("SIGTERM");
    if (role === "policy") rmSync(gate);
    const { code, stdout } = await drained.end();
    expect(code, role).toBe(0);
    expect(stdout).toMatch(/takes no new work; what it works on has 20 s to finish\n.* has ended\n$/);
  }
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run: "drained", steps: 1, trajectories: 4 });
  const attempts: { activity: string; attempt: number; at: number; failure: string | undefined }[] = [];
  for await (const { workflowId } of client.workflow.list({ query: 'EverturnRun = "drained"' })) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    for (const { activityTaskStartedEventAttributes: begun, eventTime } of events ?? []) {
      if (!begun) continue;
      const scheduled = events?.find(
        ({ eventId }) => eventId?.toString() === begun.scheduledEventId?.toString(),
      );
      const type = scheduled?.activityTaskScheduledEventAttributes?.activityType?.name;
      const { attempt, lastFailure } = begun;
      attempts.push({
        activity: `${type} of ${workflowId}`,
        attempt: attempt ?? 0,
        at: tsToMs(eventTime),
        failure: lastFailure?.message ?? undefined,
      });
    }
  }
  expect(attempts.length).toBeGreaterThan(16);
  // On a busy machine, a heartbeat may be late while the workers start. Such an attempt began before the draining.
  expect(attempts.filter(({ attempt, at }) => attempt !== 1 && at >= draining)).toEqual([]);
  for (const { child, end } of second) {
    child.kill("SIGTERM");
    expect((await end()).code).toBe(0);
  }
  await connection.close();
  await server.stop();
});
