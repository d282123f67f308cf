import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { killOnExit } from "../../src/base/processes/kill-on-exit.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";

/** A Temporal server that several runs join. */
export interface SharedServer {
  address: string;
  connection: Connection;
  stop(): Promise<void>;
}

/** One partition per queue, so that the order of tasks is exact. */
const usual = ["matching.numTaskqueueReadPartitions=1", "matching.numTaskqueueWritePartitions=1"];

/** Starts a dev server with these dynamic settings and a database in `file`; by default in memory. */
export async function startSharedServer(settings: readonly string[], file?: string): Promise<SharedServer> {
  const port = await freePort(0);
  const place = ["--headless", "--ip", "127.0.0.1", "--port", String(port)];
  const database = file === undefined ? [] : ["--db-filename", file];
  const dynamic = [...usual, ...settings].flatMap((one) => ["--dynamic-config-value", one]);
  const parameters = ["server", "start-dev", "--log-level", "never", ...place, ...database, ...dynamic];
  const server = spawn(await findServerBinary(), parameters, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(server, "exit");
  killOnExit(server);
  const address = `127.0.0.1:${port}`;
  const connection = await connected(address);
  return {
    address,
    connection,
    stop: async () => {
      await connection.close();
      server.kill("SIGTERM");
      await ended;
    },
  };
}

async function connected(address: string): Promise<Connection> {
  for (let tries = 0; ; tries++) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1000 });
      await connection.workflowService.describeNamespace({ namespace: "default" });
      return connection;
    } catch (error) {
      if (tries === 60) throw error;
      await sleep(500);
    }
  }
}
