import { setTimeout as sleep } from "node:timers/promises";
import type { DataConverter } from "@temporalio/common";
import {
  type ActivityInterceptorsFactory,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  type NativeConnectionOptions,
  TransportError,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from "@temporalio/worker";
import { untilAborted } from "../../base/async/abort-signals.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { readPatiently } from "../../base/files/read-patiently.ts";
import { endAnyway } from "../../base/processes/end-anyway.ts";
import { tellNotice } from "../../base/processes/notice.ts";
import { loopNames } from "../../contracts/plan-loops.ts";
import { openRunFolder } from "../../run/folder/open-runs.ts";
import type { Role } from "../../run/folder/queues.ts";
import { connectionSettings, reasonOf, type ServerLocation } from "./connection-settings.ts";
import { connectionTrouble } from "./connection-trouble.ts";
import { workflowOptions } from "./deployment.ts";
import { localAttempts } from "./local-attempts.ts";
import { type LocalEnds, localEnds } from "./local-ends.ts";
import { keepLines } from "./log-lines.ts";
import { watchLoop } from "./loop-watch.ts";
import { tellOutOfMemory } from "./out-of-memory.ts";
import { checkServer, watchIdentity } from "./server-identity.ts";
import { watchThreads } from "./thread-requests.ts";
import type { Wait } from "./waits.ts";
import { untilBuilt } from "./workflow-builds.ts";

type Activities = Record<string, (input: never) => Promise<unknown>>;

/** The run and queue of a worker's activities. */
export interface RoleOptions {
  runs: string;
  /** Absent: all runs that a pool serves. */
  run?: string | undefined;
  queue: string;
  /** Aborts when the worker takes no new work. */
  stopping: AbortSignal;
  /** How trajectories ended in this process. */
  ends: LocalEnds;
}

/** The activities of a role, and how to release their resources. */
export interface RoleActivities {
  activities: Activities;
  /** A queue that only this worker serves: calls for the state that it holds. */
  own?: { queue: string; activities: Activities };
  /** The maximum number of concurrent activities. */
  concurrency: number;
  close(): Promise<void>;
}

/**
 * For a worker that runs workflows: a step starts all its trajectories at once, and each task should find a poller.
 * A trajectory of quick turns is a single task from its first turn to its last, so there are as many as trajectories
 * may run at once.
 */
const workflowTasks = { maxConcurrentWorkflowTaskExecutions: 1000, maxConcurrentWorkflowTaskPolls: 50 };

/** Activities that only wait for the trajectories of a shard. They must not keep others from starting. */
const shards = 200;

/** How long cancelled activities may take to end, and then to release what they hold, in ms. */
const cancelling = 3000;

/**
 * Runs a worker of `role` for `run`, or for the runs of a pool, until `ended` resolves, with the activities of all
 * roles that share its queue. The one with orchestration also runs the workflows. `onReady` is called when it polls,
 * `onProgress` when activities have finished, at most once a second, and `onWaits` with its waiting local activities.
 * Throws TEMPORAL_UNREACHABLE, TEMPORAL_REFUSED, TEMPORAL_OTHER_SERVER, LOOP_MODULE_STUCK, LOOP_STUCK if that does not end
 * a trajectory, and the failure of an activity that found no memory.
 */
export async function runWorker(options: {
  role: Role;
  runs: string;
  /** Absent for a worker of a pool. */
  run?: string | undefined;
  location: ServerLocation;
  queue: string;
  /** The roles whose activities are on that queue. */
  serves: readonly Role[];
  makeActivities: (options: RoleOptions) => (role: Role) => Promise<RoleActivities>;
  plugins: WorkerPlugin[];
  /** Encrypts and decrypts payloads. */
  dataConverter: DataConverter;
  /** The worker deployment that contains its workflows' builds; absent for queues with a prefix. */
  deployment: string | undefined;
  ended: Promise<void>;
  /** The number of activities at once. Default: what suits the role. */
  atOnce?: number | undefined;
  /** How long running activities may take to finish after `ended`, in ms. Then other workers take them over. */
  grace: number;
  onReady: () => void;
  onProgress: () => void;
  onWaits: (waits: Wait[]) => void;
}): Promise<void> {
  const { role, runs, run, location, queue, serves, grace } = options;
  const opened = run === undefined ? undefined : await openRunFolder(runs, run);
  const connection = await connectWorker(location);
  let made: RoleActivities[] = [];
  const broken = new AbortController();
  const onLost = (error: EverturnError) => {
    tellNotice({ code: error.code, notice: error.message });
    broken.abort(error);
  };
  const loop = opened === undefined ? "" : loopNames(opened.plan);
  const ends = localEnds();
  const threads = watchThreads([(thread) => watchLoop(thread, { loop, onLost }), keepLines, ends.watch]);
  const local = localAttempts(options.onWaits);
  const closing = new AbortController();
  const stopping = new AbortController();
  void options.ended.then(() => stopping.abort());
  let hasDrained = true;
  try {
    await checkServer(connection, location);
    const onOther = (error: unknown) => broken.abort(error);
    void watchIdentity(connection, location, { stopping: closing.signal, onOther });
    made = await Promise.all(
      serves.map(options.makeActivities({ runs, run, queue, stopping: stopping.signal, ends })),
    );
    const concurrency = options.atOnce ?? Math.max(...made.map((one) => one.concurrency));
    const common: Omit<WorkerOptions, "taskQueue" | "activities"> = {
      connection,
      namespace: location.namespace,
      identity: `${role}@${process.pid}`,
      maxConcurrentActivityTaskExecutions: concurrency + (serves.includes("orchestration") ? shards : 0),
      maxConcurrentLocalActivityExecutions: concurrency,
      plugins: options.plugins,
      dataConverter: options.dataConverter,
      interceptors: {
        activity: [
          tellProgress(options.onProgress),
          tellOutOfMemory((error) => {
            broken.abort(error);
            endAnyway(); // an orderly end may need memory too
          }),
          local.interceptor,
        ],
      },
      shutdownGraceTime: grace,
      shutdownForceTime: grace + cancelling,
    };
    const orchestrated = serves.includes("orchestration") ? opened : undefined;
    if (orchestrated !== undefined) await untilBuilt(orchestrated, broken.signal);
    const builds =
      orchestrated === undefined
        ? [{}]
        : await workflowOptions(connection, location.namespace, orchestrated.folder, options.deployment);
    const shared = {
      ...common,
      taskQueue: queue,
      activities: Object.assign({}, ...made.map(({ activities }) => activities)),
      ...(orchestrated === undefined ? {} : workflowTasks),
    };
    const workers = await Promise.all([
      // The SDK itself reads the bundle of a build.
      ...builds.map((build) =>
        readPatiently(opened?.folder.root ?? runs, () => Worker.create({ ...shared, ...build })),
      ),
      ...made.flatMap(({ own }) =>
        own === undefined
          ? []
          : [Worker.create({ ...common, taskQueue: own.queue, activities: own.activities })],
      ),
    ]);
    for (const worker of workers) ends.follow(worker);
    options.onReady();
    const running = runTogether(workers, Promise.race([options.ended, untilAborted(broken.signal)]));
    hasDrained = await running.then(() => true, isExpired);
    broken.signal.throwIfAborted();
  } catch (error) {
    broken.signal.throwIfAborted(); // all other errors follow from it
    if (!(error instanceof TransportError)) throw error;
    const { address, namespace } = location;
    throw new EverturnError("TEMPORAL_REFUSED", { address, namespace, reason: reasonOf(error) });
  } finally {
    threads.stop();
    local.close();
    closing.abort();
    const closed = Promise.all(made.map((one) => one.close()));
    if (hasDrained) {
      await connection.close();
      await closed;
    } else await Promise.race([closed, sleep(cancelling)]);
  }
}

/** Whether a worker ended although activities still ran. The server gives them to other workers. */
function isExpired(error: unknown): false {
  if (error instanceof GracefulShutdownPeriodExpiredError) return false;
  throw error;
}

/** Runs workers until `ended` resolves, or one of them fails. */
async function runTogether(workers: Worker[], ended: Promise<void>): Promise<void> {
  const running = workers.map((worker) => worker.run());
  await Promise.race([ended, ...running]).catch(() => {}); // rethrown when all have ended
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  await Promise.allSettled(running);
  await Promise.all(running);
}

/** The least time between two reports of progress, in ms. */
const reportInterval = 1000;

/** Calls `tell` when an activity has finished. */
function tellProgress(tell: () => void): ActivityInterceptorsFactory {
  let told = Number.NEGATIVE_INFINITY;
  return () => ({
    inbound: {
      execute: async (input, next) => {
        const result = await next(input);
        if (performance.now() - told > reportInterval) {
          told = performance.now();
          tell();
        }
        return result;
      },
    },
  });
}

/** The connection of a worker. Throws TEMPORAL_UNREACHABLE, TEMPORAL_TLS_FAILED and TEMPORAL_UNAUTHORIZED. */
async function connectWorker(location: ServerLocation): Promise<NativeConnection> {
  const { address, isOwn } = location;
  const settings = connectionSettings(location);
  try {
    return await NativeConnection.connect({ ...settings, address, grpcCompression: compression(isOwn) });
  } catch (error) {
    throw await connectionTrouble(location, error);
  }
}

/** To a run's own server, which is on this machine, compression costs more than it saves. */
function compression(isOwn: boolean): NonNullable<NativeConnectionOptions["grpcCompression"]> {
  return { codec: isOwn ? "none" : "gzip" };
}
