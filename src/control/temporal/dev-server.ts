import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { persistently } from "../../base/files/persistently.ts";
import { watchKernelKills } from "../../base/processes/kernel-kills.ts";
import { killOnExit } from "../../base/processes/kill-on-exit.ts";
import { type Ending, endingOf } from "../../base/processes/process-ending.ts";
import { type ProcessIdentity, processIdentity } from "../../base/processes/process-identity.ts";
import { type ProcessLog, processLog } from "../../base/processes/process-log.ts";
import { codecKeysVariable } from "../encryption/codec-keys.ts";
import { freePort } from "./free-port.ts";
import { guardUi } from "./guarded-ui.ts";
import { searchAttributeTypes } from "./search-attributes.ts";
import { createServerDatabase } from "./server-database.ts";

/** A Temporal dev server that Everturn started. */
export interface DevServer {
  /** host:port of its gRPC frontend. */
  address: string;
  /** URL of its web UI. */
  ui: string;
  pid: number;
  /** The id of its database's cluster, which is unique. */
  cluster: string;
  ports: Ports;
  /** Resolves when the process has ended. */
  ended: Promise<Ending>;
  /** Ends it with SIGTERM, and with SIGKILL after five seconds. */
  stop(): Promise<void>;
}

/** The ports of a server and its UI. */
interface Ports {
  server: number;
  ui: number;
}

interface Options {
  binary: string;
  database: string;
  log: string;
  /** Exactly these ports; absent: the usual ones if they are free, else any. */
  ports?: Ports;
  /** Gives up the start. */
  stopping?: AbortSignal;
  /** Receives the process immediately, so that the server can be found if its starter is killed. */
  onSpawn?: (server: ProcessIdentity) => Promise<void>;
}

/** The message of a server that ends because another program listens on its port. */
export const portTaken = "address already in use";

/** SQLite's messages for a damaged database file: SQLITE_NOTADB and SQLITE_CORRUPT. */
const damagedDatabase = /file is not a database|database disk image is malformed/;

/** The well-known ports of Temporal's server and UI. */
const usual: Ports = { server: 7233, ui: 8233 };
const any = 0;
const otherPorts: Ports = { server: any, ui: any };

/**
 * Starts `temporal server start-dev` on loopback with a database file, tuned for many short activities. It takes the
 * usual ports if they are free. Its output goes to `log`. Throws TEMPORAL_DATABASE_DAMAGED, and
 * TEMPORAL_SERVER_FAILED with its output if it ends or does not answer within a minute.
 */
export async function startDevServer(options: Options): Promise<DevServer> {
  const { binary, log: path, ports } = options;
  await despiteTakenPorts(path, (log) =>
    createServerDatabase(options.database, binary, async (database) => {
      const server = await startOn(await freePorts(otherPorts), { ...options, database }, log);
      await server.stop();
    }),
  );
  if (ports !== undefined) return startOn(ports, options, await persistently(() => processLog(path)));
  return despiteTakenPorts(path, async (log, isFirst) =>
    startOn(await freePorts(isFirst ? usual : otherPorts), options, log),
  );
}

/** How many times to start a server whose ports other programs take. */
const mostStarts = 5;

/** Repeats a start on free ports if another program takes one of them before the server listens. */
async function despiteTakenPorts<Result>(
  path: string,
  start: (log: ProcessLog, isFirst: boolean) => Promise<Result>,
): Promise<Result> {
  for (let starts = 1; ; starts++) {
    const log = await persistently(() => processLog(path));
    try {
      return await start(log, starts === 1);
    } catch (error) {
      const isUiTaken = isEverturnError(error) && error.code === "PORT_UNUSABLE";
      if (starts === mostStarts || (!isUiTaken && !log.text().includes(portTaken))) throw error;
    }
  }
}

async function freePorts({ server, ui }: Ports): Promise<Ports> {
  return { server: await freePort(server), ui: await freePort(ui) };
}

async function startOn(ports: Ports, options: Options, log: ProcessLog): Promise<DevServer> {
  const ui = { host: hiddenAddress(), port: await freePort(any) };
  const closeUi = await guardUi(ports.ui, ui);
  const output = await persistently(() => openSync(options.log, "a"));
  const kills = watchKernelKills();
  const child = spawn(options.binary, serverArguments(options.database, ports.server, ui), {
    stdio: ["ignore", output, output],
    env: serverEnvironment(),
  });
  closeSync(output);
  killOnExit(child);
  const ended = new Promise<Ending>((resolve) => {
    const tell = (code: number | null, signal: NodeJS.Signals | null) => {
      const kernelKilled = kills.stop();
      resolve(endingOf({ code, signal, output: log.text(), lines: log.tail(), kernelKilled }));
    };
    child.once("exit", tell);
    child.once("error", (error) => {
      log.note(error.message);
      tell(null, null);
    });
  });
  void ended.then(closeUi);
  const identity = child.pid === undefined ? undefined : processIdentity(child.pid);
  if (identity !== undefined) await options.onSpawn?.(identity);
  const cluster = await waitUntilReady(ports.server, child, log, options);
  return {
    address: `127.0.0.1:${ports.server}`,
    ui: `http://127.0.0.1:${ports.ui}`,
    pid: child.pid ?? -1,
    cluster,
    ports,
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(killer);
    },
  };
}

/**
 * The UI's own address: a loopback address that pages of other sites can't guess. Only Linux has more than one;
 * elsewhere only the port is unknown.
 */
function hiddenAddress(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  return ["127", ...Array.from({ length: 3 }, () => randomInt(1, 255))].join(".");
}

function serverArguments(database: string, port: number, ui: { host: string; port: number }): string[] {
  return [
    "server",
    "start-dev",
    "--ip",
    "127.0.0.1",
    "--ui-ip",
    ui.host,
    "--log-level",
    "error",
    "--port",
    String(port),
    "--ui-port",
    String(ui.port),
    ...databaseArguments(database),
  ];
}

/** The arguments of `temporal server start-dev` that set its database file, search attributes and tuning. */
export function databaseArguments(database: string): string[] {
  return [
    "--db-filename",
    database,
    ...pragmas.flatMap((pragma) => ["--sqlite-pragma", pragma]),
    ...Object.entries(searchAttributeTypes).flatMap(([name, type]) => [
      "--search-attribute",
      `${name}=${type}`,
    ]),
    ...dynamicConfiguration.flatMap((value) => ["--dynamic-config-value", value]),
  ];
}

/** The keys of payloads are not the server's business. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const { [codecKeysVariable]: _, ...environment } = process.env;
  return { GOGC: "400", ...environment }; // collects garbage a quarter as often: memory for time
}

/** Settings for a single process that uses the database. */
const pragmas = [
  "journal_mode=WAL",
  "synchronous=NORMAL",
  "locking_mode=EXCLUSIVE", // transactions take no locks and share no index
  "wal_autocheckpoint=4000", // pages: four times as many
  "busy_timeout=10000", // ms: a killed predecessor may be about to end
];

/** Settings for a single user whose tasks come in bursts. */
const dynamicConfiguration = [
  "history.transferProcessorMaxPollRPS=200",
  'history.transferProcessorUpdateAckInterval="1s"', // each finished task in memory slows down new ones
  'history.visibilityProcessorUpdateAckInterval="1s"',
  "system.enableActivityEagerExecution=true", // an activity of the workflow's own worker skips the task queue
  "frontend.namespaceCount=10000", // requests that wait: one per trajectory
  "matching.numTaskqueueReadPartitions=1", // one partition, so that tasks need no forwarding to find a poller
  "matching.numTaskqueueWritePartitions=1",
  // The list of workflows lags by up to a second. A workflow that starts and ends within that time is written once.
  "history.visibilityProcessorMaxPollRPS=1",
  "history.visibilityTaskBatchSize=1000",
  'frontend.httpAllowedHosts=["127.0.0.1:*","localhost:*"]', // its HTTP API would answer to any name
  "system.forceSearchAttributesCacheRefreshOnRead=false", // all are known before the server starts
];

/**
 * If two servers start on one port at once, one ends a moment later, so the answer may come from the other one. In
 * ms.
 */
const settling = 2000;

/**
 * Waits until the server answers with its cluster's id, and either reports that it listens or has survived a
 * conflict over its port.
 */
async function waitUntilReady(
  port: number,
  child: ChildProcess,
  log: ProcessLog,
  { database, stopping }: Pick<Options, "database" | "stopping">,
): Promise<string> {
  const deadline = Date.now() + 60_000;
  const listens = new RegExp(`Server: +\\S+:${port}\\b`);
  let answeredAt: number | undefined;
  while (Date.now() < deadline && isAlive(child) && stopping?.aborted !== true) {
    const cluster = await clusterAt(`127.0.0.1:${port}`);
    if (cluster !== undefined) answeredAt ??= Date.now();
    const hasSettled = answeredAt !== undefined && Date.now() - answeredAt > settling;
    if (cluster !== undefined && isAlive(child) && (hasSettled || listens.test(log.text()))) return cluster;
    await sleep(100);
  }
  const reason = child.signalCode ?? log.reason();
  child.kill("SIGKILL");
  const damage = damagedDatabase.exec(log.text())?.[0];
  if (damage !== undefined)
    throw new EverturnError("TEMPORAL_DATABASE_DAMAGED", { database, reason: damage });
  throw new EverturnError("TEMPORAL_SERVER_FAILED", { log: log.path, reason });
}

function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** The cluster's id of the Temporal server at `address`, once it answers and knows its default namespace. */
export async function clusterAt(address: string): Promise<string | undefined> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: 1000 });
    await connection.workflowService.describeNamespace({ namespace: "default" });
    return (await connection.workflowService.getClusterInfo({})).clusterId ?? undefined;
  } catch {
    return undefined; // not up yet; the caller's deadline decides
  } finally {
    await connection?.close();
  }
}
