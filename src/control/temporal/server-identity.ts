import { setTimeout as sleep } from "node:timers/promises";
import type { NativeConnection } from "@temporalio/worker";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ServerLocation } from "./client.ts";

/** Milliseconds between two looks at who answers, and how long a server may take. */
const interval = 3000;
const patience = 3000;

/**
 * Throws TEMPORAL_OTHER_SERVER if another server answers than the run's own: one of another run, which took its port. A
 * server that does not answer is no other one.
 */
export async function checkServer(connection: NativeConnection, location: ServerLocation): Promise<void> {
  const { address, cluster } = location;
  if (cluster === undefined) return;
  const found = await clusterOf(connection);
  if (found !== undefined && found !== cluster) throw new EverturnError("TEMPORAL_OTHER_SERVER", { address });
}

/** Looks again and again until `stopping` aborts: a connection that was lost may come back to another server. */
export async function watchIdentity(
  connection: NativeConnection,
  location: ServerLocation,
  { stopping, onOther }: { stopping: AbortSignal; onOther: (error: unknown) => void },
): Promise<void> {
  while (!stopping.aborted) {
    await checkServer(connection, location).catch(onOther);
    await sleep(interval, undefined, { signal: stopping }).catch(() => {}); // it was told to stop
  }
}

async function clusterOf(connection: NativeConnection): Promise<string | undefined> {
  try {
    const asking = () => connection.workflowService.getClusterInfo({});
    return (await connection.withDeadline(Date.now() + patience, asking)).clusterId ?? undefined;
  } catch {
    return undefined; // nobody answers, for now
  }
}
