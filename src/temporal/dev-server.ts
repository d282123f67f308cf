import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { EverturnError } from "../errors/everturn-error.ts";

/** A Temporal dev server of our own. */
export interface DevServer {
  /** host:port of its gRPC frontend. */
  address: string;
  /** URL of its web UI. */
  ui: string;
  pid: number;
  /** Resolves when the process has ended. */
  ended: Promise<void>;
  /** Ends it: SIGTERM, and SIGKILL after five seconds. */
  stop(): Promise<void>;
}

/**
 * Starts `temporal server start-dev` on loopback with a database file, tuned for many short activities
 * (WAL, `synchronous=NORMAL`, a higher poll rate of the transfer queue). Its output goes to `log`.
 * Throws TEMPORAL_SERVER_FAILED with the log's end if it ends or does not answer within a minute.
 */
export async function startDevServer(options: {
  binary: string;
  database: string;
  log: string;
  /** Preferred ports; taken if free. */
  port?: number;
}): Promise<DevServer> {
  const port = await freePort(options.port ?? 7233);
  const uiPort = await freePort(port + 1000);
  const output = openSync(options.log, "a");
  const child = spawn(options.binary, serverArguments(options.database, port, uiPort), {
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  const address = `127.0.0.1:${port}`;
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await waitUntilReady(address, child, options.log);
  return {
    address,
    ui: `http://127.0.0.1:${uiPort}`,
    pid: child.pid ?? -1,
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(killer);
    },
  };
}

function serverArguments(database: string, port: number, uiPort: number): string[] {
  return [
    ...["server", "start-dev", "--ip", "127.0.0.1", "--ui-ip", "127.0.0.1", "--log-level", "error"],
    ...["--port", String(port), "--ui-port", String(uiPort), "--db-filename", database],
    ...["--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"],
    ...["--dynamic-config-value", "history.transferProcessorMaxPollRPS=200"],
  ];
}

async function waitUntilReady(address: string, child: ChildProcess, log: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (
    Date.now() < deadline &&
    child.exitCode === null &&
    child.signalCode === null &&
    child.pid !== undefined
  ) {
    if (await answers(address)) return;
    await sleep(100);
  }
  child.kill("SIGKILL");
  throw new EverturnError("TEMPORAL_SERVER_FAILED", { log, reason: logEnd(log) });
}

/** Whether a Temporal server answers at `address` and knows its default namespace. */
async function answers(address: string): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: 1000 });
    await connection.workflowService.describeNamespace({ namespace: "default" });
    return true;
  } catch {
    return false; // not up yet; the caller's deadline decides
  } finally {
    await connection?.close();
  }
}

function logEnd(log: string): string {
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return lines.slice(-3).join(" / ") || "no output";
}

/** `preferred` if nothing listens there, else any free port of loopback. */
async function freePort(preferred: number): Promise<number> {
  for (const port of [preferred, 0]) {
    const free = await new Promise<number | undefined>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(undefined));
      server.listen(port, "127.0.0.1", () => {
        const address = server.address();
        server.close(() =>
          resolve(typeof address === "object" && address !== null ? address.port : undefined),
        );
      });
    });
    if (free !== undefined) return free;
  }
  throw new EverturnError("NO_FREE_PORT", { preferred });
}
