import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
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
    await sleep(2000); // the list of workflows is behind by up to a second
    for await (const { workflowId, runId } of client.workflow.list()) {
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
