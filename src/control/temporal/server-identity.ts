import { setTimeout as sleep } from "node:timers/promises";
import type { NativeConnection } from "@temporalio/worker";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ServerLocation } from "./connection-settings.ts";

/** Ms between two checks of the server's identity, and how long a server may take. */
const interval = 3000;
const patience = 3000;

/**
 * Throws TEMPORAL_OTHER_SERVER if another run's server answers, because it took the port of this run's own. A server
 * that does not answer does not count as another one.
 */
export async function checkServer(connection: NativeConnection, location: ServerLocation): Promise<void> {
  const { address, cluster } = location;
  if (cluster === undefined) return;
  const found = await clusterOf(connection);
  if (found !== undefined && found !== cluster) throw new EverturnError("TEMPORAL_OTHER_SERVER", { address });
}

/** Repeats the check until `stopping` aborts: a lost connection may come back to another server. */
export async function watchIdentity(
  connection: NativeConnection,
  location: ServerLocation,
  { stopping, onOther }: { stopping: AbortSignal; onOther: (error: unknown) => void },
): Promise<void> {
  while (!stopping.aborted) {
    await checkServer(connection, location).catch(onOther);
    await sleep(interval, undefined, { signal: stopping }).catch(() => {}); // ended by the signal
  }
}

async function clusterOf(connection: NativeConnection): Promise<string | undefined> {
  try {
    const asking = () => connection.workflowService.getClusterInfo({});
    return (await connection.withDeadline(Date.now() + patience, asking)).clusterId ?? undefined;
  } catch {
    return undefined; // nobody answers for now
  }
}
