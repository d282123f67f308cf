import { TransportError, Worker, type WorkerPlugin } from "@temporalio/worker";
import type { Queues } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { openRun } from "../runs/open-runs.ts";
import { connectWorker, reasonOf, type ServerLocation } from "./client.ts";
import { type Role, rolesBeside } from "./queues.ts";

/** The activities of a role, and how to end what they hold. */
export interface RoleActivities {
  activities: Record<string, (input: never) => Promise<unknown>>;
  /** How many at once. */
  concurrency: number;
  close(): Promise<void>;
}

/**
 * Of a worker that runs workflows: a step starts all its trajectories at once, and each task should find a poller. A
 * trajectory of quick turns is one task from its first turn to its last: as many as trajectories may run at once.
 */
const workflowTasks = { maxConcurrentWorkflowTaskExecutions: 1000, maxConcurrentWorkflowTaskPolls: 50 };

/**
 * Runs a worker of `role` for `run` until `ended` resolves, with the activities of all roles that share its queue;
 * the one with orchestration also runs the workflows.
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
  const served = rolesBeside(role, queues);
  const made = await Promise.all(served.map((one) => options.makeActivities(one, runs, run)));
  const connection = await connectWorker(location);
  try {
    const concurrency = Math.max(...made.map((one) => one.concurrency));
    const worker = await Worker.create({
      connection,
      namespace: location.namespace,
      taskQueue: queues[role],
      identity: `${role}@${process.pid}`,
      activities: Object.assign({}, ...made.map(({ activities }) => activities)),
      maxConcurrentActivityTaskExecutions: concurrency,
      maxConcurrentLocalActivityExecutions: concurrency,
      plugins: options.plugins,
      shutdownGraceTime: "2s",
      ...(served.includes("orchestration")
        ? { workflowBundle: { codePath: folder.workflows }, ...workflowTasks }
        : {}),
    });
    options.onReady();
    await worker.runUntil(options.ended);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { address, namespace } = location;
    throw new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: reasonOf(error) });
  } finally {
    await connection.close();
    for (const one of made) await one.close();
  }
}
