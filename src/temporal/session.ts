import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Client } from "@temporalio/client";
import type { RunFile } from "../contracts/run.ts";
import type { Queues } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { openRun, readRunFile } from "../runs/open-runs.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { claimRun, clearSession, writeSession } from "../runs/session-file.ts";
import { startTelemetry } from "../telemetry/telemetry.ts";
import { connectClient, type ServerLocation } from "./client.ts";
import { type DevServer, startDevServer } from "./dev-server.ts";
import { prefixed, rolesToStart } from "./queues.ts";
import { registerSearchAttributes } from "./search-attributes.ts";
import { findServerBinary } from "./server-binary.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";
import { bundleWorkflows } from "./workflow-bundle.ts";

/** A run with its server and workers up. */
export interface RunSession {
  run: string;
  folder: RunFolder;
  client: Client;
  address: string;
  namespace: string;
  queues: Queues;
  /** URL of the Temporal UI of the run's own server. */
  ui: string | undefined;
  /** Rejects when the server or a worker ends by itself. */
  failed: Promise<never>;
  /** Aborts when the session closes: long polls are given up. */
  closing: AbortSignal;
  close(): Promise<void>;
}

/**
 * Brings up all that works on a run: its dev server (or a connection to the server it joined), its search attributes,
 * and a worker process for each queue. `queuePrefix` gives the workers queues of their own, so that they leave the
 * run's training workflow alone.
 */
export async function openSession(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  queuePrefix?: string;
}): Promise<RunSession> {
  const { runs, run } = options;
  const file = await readRunFile(runs, run);
  const { folder, plan } = await openRun(runs, run);
  await claimRun(run, folder);
  const telemetry = startTelemetry("cli", file.telemetry);
  const started: { stop(): Promise<void> }[] = [telemetry];
  const controller = new AbortController();
  const close = async () => {
    controller.abort();
    for (const part of started.reverse()) await part.stop();
    await clearSession(folder);
  };
  try {
    const bundling = existsSync(folder.workflows)
      ? Promise.resolve()
      : bundleWorkflows(folder.workflows, plan.loop, file.telemetry);
    bundling.catch(() => {}); // it may fail while the server starts, before it is awaited
    const server = await serverOf(file, folder, options.temporal);
    if (server.own !== undefined) started.push(server.own);
    await bundling;
    const { address } = server;
    const own = server.own === undefined ? {} : { server: server.own.pid };
    await writeSession(folder, { pid: process.pid, address, ...own });
    const location: ServerLocation = {
      address,
      namespace: file.namespace,
      isOwn: server.own !== undefined,
    };
    const connected = await connectClient(location, telemetry.plugins, controller.signal);
    started.push({ stop: connected.close });
    const { client, connection } = connected;
    await registerSearchAttributes(connection, location);
    const queuePrefix = options.queuePrefix ?? "";
    const queues = prefixed(queuePrefix, file.queues);
    const workers = await startWorkers(queues, { runs, run, address, queuePrefix });
    started.push({ stop: async () => void (await Promise.all(workers.map((worker) => worker.stop()))) });
    const ends = [
      ...workers.map((worker) => worker.failed),
      ...(server.own ? [serverEnd(server.own, folder)] : []),
    ];
    const failed = Promise.race(ends);
    failed.catch(() => {});
    return {
      run,
      folder,
      client,
      address,
      namespace: file.namespace,
      queues,
      ui: server.own?.ui,
      failed,
      closing: controller.signal,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serverOf(
  file: RunFile,
  folder: RunFolder,
  temporal: string | undefined,
): Promise<{ address: string; own?: DevServer }> {
  if (file.address !== undefined) return { address: file.address };
  const log = folder.log("temporal");
  await mkdir(dirname(log), { recursive: true });
  const own = await startDevServer({
    binary: await findServerBinary(temporal),
    database: folder.database,
    log,
    onSpawn: (server) => writeSession(folder, { pid: process.pid, server }),
  });
  return { address: own.address, own };
}

async function startWorkers(
  queues: Queues,
  options: { runs: string; run: string; address: string; queuePrefix: string },
): Promise<WorkerProcess[]> {
  const starting = rolesToStart(queues).map((role) => startWorkerProcess(role, options));
  const settled = await Promise.allSettled(starting);
  const workers = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failure = settled.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw failure.reason;
  }
  return workers;
}

async function serverEnd(server: DevServer, folder: RunFolder): Promise<never> {
  await server.ended;
  throw new EverturnError("TEMPORAL_SERVER_FAILED", {
    log: folder.log("temporal"),
    reason: "it ended by itself",
  });
}
