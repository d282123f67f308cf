import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { expect, onTestFinished, test, vi } from "vitest";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { lastLine, startWith } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { startedCommands } from "../support/started-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const remember = startedCommands();
const waiting = { timeout: 250_000, interval: 50 };
const namespace = "default";
const keys = `k1:${randomBytes(32).toString("base64")}`;

test("runs share the workers of a pool; each has its own priority, fairness key and encryption", async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  const server = await startDevServer({ binary: await findServerBinary(), ...paths });
  onTestFinished(() => server.stop());
  const { address } = server;
  const started = (key: string, ...parameters: string[]) => {
    const env = { EVERTURN_CODEC_KEYS: key, TEMPORAL_ADDRESS: address };
    return remember(startWith(env, ...parameters, "--runs", runs));
  };

  const workers = ["policy", "trainer"].map((role) =>
    started(keys, "worker", "--pool", "gpu", "--role", role),
  );
  await vi.waitUntil(() => workers.every((one) => one.stdout().includes("of the pool gpu polls")), waiting);
  const pipeline = writeScriptedPipeline(folder, [["4"]], {
    tools: [{ plugin: "tool-calculator" }],
    rollout: { batchSize: 2 },
  });
  const train = (run: string, key: string, ...more: string[]) =>
    started(key, "run", pipeline, "--id", run, "--pool", "gpu", "--workers", "shared", "--json", ...more);
  const commands = [train("plain", "", "--priority", "1"), train("secret", keys)];
  for (const command of commands) {
    const { code, stdout, stderr } = await command.end();
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("npx everturn worker --pool gpu --role ROLE (policy, trainer)");
    expect(lastLine(stdout)).toMatchObject({ steps: 1, trajectories: 2 });
  }

  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  const turnOf = async (run: string) => {
    const query = `EverturnRun = "${run}" AND WorkflowType = "trajectory"`;
    const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query });
    const execution = executions[0]?.execution ?? null;
    const { history } = await connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution,
    });
    return turnIn(history?.events ?? []);
  };
  expect(await turnOf("plain")).toEqual({
    queue: "pool:gpu/policy",
    priority: 1,
    fairness: "plain",
    encoding: "json/plain",
  });
  expect(await turnOf("secret")).toEqual({
    queue: "pool:gpu/policy",
    priority: 0,
    fairness: "secret",
    encoding: "binary/encrypted",
  });
});

/** How the first turn of a trajectory was scheduled, and how its result is encoded. */
function turnIn(events: readonly temporal.api.history.v1.IHistoryEvent[]) {
  const completed = events.find((one) => one.activityTaskCompletedEventAttributes);
  const result = completed?.activityTaskCompletedEventAttributes;
  const scheduled = events.find((one) => String(one.eventId) === String(result?.scheduledEventId));
  const turn = scheduled?.activityTaskScheduledEventAttributes;
  const { priority } = events[0]?.workflowExecutionStartedEventAttributes ?? {}; // its activities inherit it
  const { metadata } = result?.result?.payloads?.[0] ?? {};
  return {
    queue: turn?.taskQueue?.name,
    priority: priority?.priorityKey ?? 0,
    fairness: priority?.fairnessKey,
    encoding: Buffer.from(metadata?.encoding ?? []).toString(),
  };
}
