import { TransportError, Worker, type WorkerPlugin } from "@temporalio/worker";
import type { Queues } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { openRun } from "../runs/open-runs.ts";
import { connectWorker, reasonOf, type ServerLocation } from "./client.ts";

/** A worker role: the name of its queue. */
export type Role = keyof Queues;

/** All roles, in the order in which they are started. */
export const roles: readonly Role[] = ["orchestration", "policy", "tools", "trainer"];

/** The activities of a role, and how to end what they hold. */
export interface RoleActivities {
  activities: Record<string, (input: never) => Promise<unknown>>;
  /** How many at once. */
  concurrency: number;
  close(): Promise<void>;
}

/**
 * Runs a worker of `role` for `run` until `ended` resolves; the orchestration worker also runs the workflows.
 * `onReady` is called when it polls. Throws TEMPORAL_UNREACHABLE, TEMPORAL_REFUSED.
 */
export async function runWorker(options: {
  role: Role;
  runs: string;
  run: string;
  location: ServerLocation;
  queues: Queues;
  makeActivities: (role: Role, runs: string, run: string) => Promise<RoleActivities>;
  plugins: WorkerPlugin[];
  ended: Promise<void>;
  onReady: () => void;
}): Promise<void> {
  const { role, runs, run, location, queues } = options;
  const { folder } = await openRun(runs, run);
  const made = await options.makeActivities(role, runs, run);
  const connection = await connectWorker(location);
  try {
    const worker = await Worker.create({
      connection,
      namespace: location.namespace,
      taskQueue: queues[role],
      identity: `${role}@${process.pid}`,
      activities: made.activities,
      maxConcurrentActivityTaskExecutions: made.concurrency,
      plugins: options.plugins,
      shutdownGraceTime: "2s",
      ...(role === "orchestration" ? { workflowBundle: { codePath: folder.workflows } } : {}),
    });
    options.onReady();
    await worker.runUntil(options.ended);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { address, namespace } = location;
    throw new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: reasonOf(error) });
  } finally {
    await connection.close();
    await made.close();
  }
}
