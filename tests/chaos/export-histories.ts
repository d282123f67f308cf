import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { withRunClient } from "../../src/control/supervision/run-client.ts";

/** Writes the histories of a run's workflows into `folder`, a file each: {workflowId, runId, type, status, history}. */
export async function exportHistories(runs: string, run: string, folder: string): Promise<void> {
  await withRunClient({ runs, run, temporal: undefined }, (client) => writeHistories(client, run, folder));
}

/** The same with a client of the run's server. `change` is applied to each history. */
export async function writeHistories(
  client: Client,
  run: string,
  folder: string,
  change: (history: unknown) => Promise<unknown> = async (history) => history,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  let number = 0;
  await sleep(2000); // the list of workflows is behind by up to a second
  const query = `WorkflowId = "${run}" OR WorkflowId STARTS_WITH "${run}/"`; // a server can hold several runs
  for await (const { workflowId, runId, type } of client.workflow.list({ query })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { status } = await handle.describe(); // the list may be further behind on a busy machine
    const history = await handle.fetchHistory();
    const exported = {
      workflowId,
      runId,
      type,
      status: status.name,
      history: await change(JSON.parse(historyToJSON(history))),
    };
    writeFileSync(join(folder, `${++number}.json`), JSON.stringify(exported));
  }
}
