import { Client, Connection, type HistoryAndWorkflowId } from "@temporalio/client";
import type { RunFolder } from "../../src/runs/run-folder.ts";
import { startDevServer } from "../../src/temporal/dev-server.ts";
import { findServerBinary } from "../../src/temporal/server-binary.ts";

/** The histories of a run's workflows, read from the database of its own server; the run must have ended. */
export async function historiesOf(folder: RunFolder): Promise<HistoryAndWorkflowId[]> {
  const { database } = folder;
  const log = folder.log("histories");
  const server = await startDevServer({ binary: await findServerBinary(), database, log });
  try {
    const connection = await Connection.connect({ address: server.address });
    const histories: HistoryAndWorkflowId[] = [];
    const client = new Client({ connection });
    for await (const history of client.workflow.list().intoHistories()) histories.push(history);
    await connection.close();
    return histories;
  } finally {
    await server.stop();
  }
}
