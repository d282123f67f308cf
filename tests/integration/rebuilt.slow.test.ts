import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { NativeConnection, Worker } from "@temporalio/worker";
import { expect, onTestFinished, test } from "vitest";
import { watchStandstill } from "../../src/control/supervision/standstill.ts";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { idleWorkflows } from "../../src/control/temporal/idle-workflows.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const support = join(import.meta.dirname, "..", "support");
const [run, queue] = ["forgetful", "forgetful/rollout"];

test("a workflow that missed a signal is rebuilt from its history after a minute in which nothing is under way", async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  const { address, stop } = await startDevServer({ binary: await findServerBinary(), ...paths });
  onTestFinished(stop);
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    taskQueue: queue,
    workflowsPath: join(support, "forgetful-workflow.ts"),
    interceptors: { workflowModules: [join(import.meta.dirname, "..", "..", "workflows", "instance.ts")] },
  });
  const working = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await working;
    await native.close();
    await connection.close();
  });
  const client = new Client({ connection });
  const handle = await client.workflow.start("training", {
    workflowId: run,
    taskQueue: queue,
    typedSearchAttributes: [{ key: defineSearchAttributeKey("EverturnRun", "KEYWORD"), value: run }],
  });
  await handle.signal("tell");
  await handle.query("forget");
  await handle.signal("tell");
  await expect
    .poll(() => idleWorkflows(client, { run, queue }), { timeout: 60_000 })
    .toEqual([{ workflowId: run, runId: handle.firstExecutionRunId }]);
  expect(await idleWorkflows(client, { run, queue: "another" })).toEqual([]);

  const notes: string[] = [];
  const closing = new AbortController();
  const began = performance.now();
  const standstill = watchStandstill({
    client,
    run,
    queue,
    progress: () => 0,
    isServerUp: () => true,
    closing: closing.signal,
    note: (text) => notes.push(text),
  });
  expect(await handle.result()).toBe(2);
  expect(performance.now() - began).toBeGreaterThan(60_000);
  closing.abort();
  await standstill.stop();
  expect(notes).toEqual([
    "nothing is under way and nothing is awaited: rebuilding forgetful from the history",
  ]);
  const { events } = await handle.fetchHistory();
  const failures = events?.flatMap(
    (event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? [],
  );
  expect(failures).toEqual(["The run stands still. Rebuilding from the history."]);
}, 400_000);
