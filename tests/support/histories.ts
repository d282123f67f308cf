import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection, type WorkflowExecutionInfo } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import type { RunFolder } from "../../src/run/folder/run-folder.ts";

/** The history of one execution of a workflow. */
export interface RecordedHistory {
  workflowId: string;
  history: temporal.api.history.v1.IHistory;
}

/**
 * The histories of a run's workflows, the newest first, read from the database of its own server; the run must have
 * ended.
 */
export async function historiesOf(folder: RunFolder): Promise<RecordedHistory[]> {
  const { database } = folder;
  const log = folder.log("histories");
  const server = await startDevServer({ binary: await findServerBinary(), database, log });
  try {
    const connection = await Connection.connect({ address: server.address });
    const histories: RecordedHistory[] = [];
    const client = new Client({ connection });
    for (const { workflowId, runId } of await listed(client)) {
      histories.push({
        workflowId,
        history: await client.workflow.getHandle(workflowId, runId).fetchHistory(),
      });
    }
    await connection.close();
    return histories;
  } finally {
    await server.stop();
  }
}

/** How many lists of workflows must be the same, a second apart, because the list is behind. */
const sameLists = 4;

/** The server's list of workflows, once it changes no more and all of them have ended. */
async function listed(client: Client): Promise<WorkflowExecutionInfo[]> {
  const lists: string[] = [];
  for (;;) {
    const executions: WorkflowExecutionInfo[] = [];
    for await (const execution of client.workflow.list()) executions.push(execution);
    lists.push(executions.map(({ runId, status }) => `${runId} ${status.name}`).join());
    const last = lists.slice(-sameLists);
    const isStill = last.length === sameLists && new Set(last).size === 1;
    if (isStill && executions.every(({ status }) => status.name !== "RUNNING")) return executions;
    await sleep(1000);
  }
}
