import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { dump } from "js-yaml";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { endChild } from "../support/end-child.ts";
import type { PostgresqlServer } from "./postgresql-server.ts";

const version = "1.32.0";
/** From the end of the process to the next start, in ms. */
const restartDelay = 500;

/** In ms. */
const longestStart = 90_000;

const run = promisify(execFile);

/** Temporal's own server on PostgreSQL, with the namespace `default`. */
export interface TemporalServer {
  /** host:port of its gRPC frontend. */
  address: string;
  /** Kills the process. Resolves when another one answers. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Builds Temporal's server and its SQL tool from their published source with Go, unless the cache has them. Returns
 * the folder of the binaries.
 */
async function binaries(note: (text: string) => void): Promise<string> {
  return cachedFolder(join(cacheFolder(), "tests", `temporal-server-${version}`), async (folder) => {
    for (const command of ["server", "tools/sql"]) {
      note(`building ${command} of Temporal ${version}; the first time takes minutes …`);
      await run("go", ["install", `go.temporal.io/server/cmd/${command}@v${version}`], {
        env: { ...process.env, GOBIN: folder, GOTOOLCHAIN: "auto" },
      });
    }
  });
}

/** Creates both databases with their schemas. */
async function createDatabases(bin: string, port: number): Promise<void> {
  const to = ["--port", String(port), "--user", "postgres", "--plugin", "postgres12"];
  const schemas = { temporal: "temporal", temporal_visibility: "visibility" };
  for (const [database, schema] of Object.entries(schemas)) {
    const tool = (...command: string[]) => run(join(bin, "sql"), [...to, "--database", database, ...command]);
    await tool("create-database");
    await tool("setup-schema", "--version", "0.0");
    await tool("update-schema", "--schema-name", `postgresql/v12/${schema}`);
  }
}

/** The settings of Temporal's development configuration for PostgreSQL, on free ports of loopback. */
async function configuration(database: number, frontend: number): Promise<string> {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: "postgres12",
      databaseName,
      connectAddr: `127.0.0.1:${database}`,
      connectProtocol: "tcp",
      user: "postgres",
      password: "",
      maxConns: 20,
      maxIdleConns: 20,
      maxConnLifetime: "1h",
    },
  });
  let low = 10_000 + (process.pid % 10_000); // the schema has a smallint for ports of the membership
  const service = async (grpcPort: number) => ({
    rpc: { grpcPort, membershipPort: await freePort(low++), bindOnLocalHost: true },
  });
  return dump({
    log: { stdout: true, level: "error" },
    persistence: {
      defaultStore: "history",
      visibilityStore: "visibility",
      numHistoryShards: 4,
      datastores: { history: store("temporal"), visibility: store("temporal_visibility") },
    },
    global: { membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" } },
    services: {
      frontend: await service(frontend),
      matching: await service(await freePort(0)),
      history: await service(await freePort(0)),
      worker: await service(await freePort(0)),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: "active",
      currentClusterName: "active",
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: `127.0.0.1:${frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
  });
}

/** Starts the server on the databases of `postgresql`. Its output goes to a file in `folder`. */
export async function startTemporal(
  postgresql: PostgresqlServer,
  folder: string,
  note: (text: string) => void,
): Promise<TemporalServer> {
  const bin = await binaries(note);
  await createDatabases(bin, postgresql.port);
  const port = await freePort(0);
  const address = `127.0.0.1:${port}`;
  const file = join(folder, "temporal.yaml");
  writeFileSync(file, await configuration(postgresql.port, port));

  let isStopping = false;
  let server = begin();

  /** Starts the process, and another one whenever it ends: it gives up if it loses its database. */
  function begin(): ChildProcess {
    const output = openSync(join(folder, "temporal.log"), "a");
    const child = spawn(join(bin, "server"), ["--config-file", file, "--allow-no-auth", "start"], {
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    child.once("exit", () => {
      if (isStopping) return;
      setTimeout(() => {
        if (!isStopping) server = begin();
      }, restartDelay);
    });
    return child;
  }

  async function untilReady(): Promise<void> {
    const deadline = Date.now() + longestStart;
    while (!(await hasNamespace(address))) {
      if (Date.now() > deadline)
        throw new Error(`Temporal does not start: see ${join(folder, "temporal.log")}`);
      await sleep(500);
    }
  }

  async function stop(): Promise<void> {
    isStopping = true;
    await endChild(server, "SIGTERM");
  }

  await untilReady().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    address,
    crash: async () => {
      await endChild(server, "SIGKILL");
      await untilReady();
    },
    stop,
  };
}

/** Registers the namespace unless it exists. False while the server does not answer. */
async function hasNamespace(address: string): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: 2000 });
    const { namespaces } = await connection.workflowService.listNamespaces({});
    const isThere = namespaces.some(({ namespaceInfo }) => namespaceInfo?.name === "default");
    if (!isThere)
      await connection.workflowService.registerNamespace({
        namespace: "default",
        workflowExecutionRetentionPeriod: msToTs("1 day"),
      });
    await connection.workflowService.describeNamespace({ namespace: "default" });
    return true;
  } catch {
    return false; // the caller tries again
  } finally {
    await connection?.close();
  }
}
