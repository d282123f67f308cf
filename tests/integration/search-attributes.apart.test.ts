import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import {
  registerSearchAttributes,
  searchAttributeTypes,
} from "../../src/control/temporal/search-attributes.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { startGateway } from "../support/temporal-gateway.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a server that others started", () => {
  const folder = temporaryFolder();
  let server: ChildProcess;
  let connection: Connection;
  let port: number;

  beforeAll(async () => {
    const binary = await findServerBinary();
    const database = ["--db-filename", join(folder, "server.db")];
    // As servers in production are: what is registered is known once their caches are read anew.
    const cached = ["--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=false"];
    for (let tries = 0; tries < 3; tries++) {
      // Another program may take the port before the server does.
      port = await freePort(0);
      const place = ["--headless", "--ip", "127.0.0.1", "--port", String(port)];
      server = spawn(binary, ["server", "start-dev", ...place, ...database, ...cached], { stdio: "ignore" });
      while (server.exitCode === null) {
        const opened = await connect(`127.0.0.1:${port}`).catch(() => undefined);
        if (opened !== undefined) {
          connection = opened;
          return;
        }
        await sleep(100);
      }
    }
    throw new Error("the server did not start");
  });

  afterAll(async () => {
    await connection.close();
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  });

  it("names the missing attributes and the commands that create them to a client that may not", async () => {
    const refusal = { code: 7, message: "Request unauthorized." };
    const gateway = await startGateway(`127.0.0.1:${port}`);
    const through = await connect(gateway.address);
    const registering = () =>
      registerSearchAttributes(through, { address: "h:7233", namespace: "default", isOwn: false });
    const names = Object.keys(searchAttributeTypes);
    const types = Object.entries(searchAttributeTypes);
    const flags = types.map(([name, type]) => `--name ${name} --type ${type}`);
    const pairs = types.map(([name, type]) => `--search-attribute ${name}=${type}`);
    for (const call of ["AddSearchAttributes", "SearchAttributes"]) {
      gateway.refuse((made) => (made.endsWith(call) ? refusal : undefined));
      const error: unknown = await registering().catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "SEARCH_ATTRIBUTES_MISSING", params: { names: names.join(", ") } });
      expect(messageOf(error).split("\n").slice(-3)).toEqual([
        `  temporal operator search-attribute create --address h:7233 --namespace default ${flags.join(" ")}`,
        "On Temporal Cloud:",
        `  tcld namespace search-attributes add --namespace default ${pairs.join(" ")}`,
      ]);
    }
    await through.close();
    await gateway.stop();
  });

  it("takes trajectories with search attributes as soon as these are registered", async () => {
    const client = new Client({ connection });
    const start = (workflowId: string) =>
      client.workflow.start("trajectory", {
        workflowId,
        taskQueue: "nobody",
        args: [],
        typedSearchAttributes: [
          { key: defineSearchAttributeKey("EverturnTask", "KEYWORD"), value: "task-7" },
        ],
      });
    await expect(start("before")).rejects.toThrow();
    await registerSearchAttributes(connection, { address: "", namespace: "default", isOwn: false });
    await start("after");
    const found = async () => {
      const ids: string[] = [];
      const query = 'EverturnTask = "task-7" AND EverturnReward IS NULL';
      for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
      return ids;
    };
    await expect.poll(found, { timeout: 100_000 }).toEqual(["after"]);
  });

  it("accepts a client that may not list them once they exist", async () => {
    const gateway = await startGateway(`127.0.0.1:${port}`, {
      rule: (call) => (call.endsWith("SearchAttributes") ? { code: 7, message: "no" } : undefined),
    });
    const through = await connect(gateway.address);
    await registerSearchAttributes(through, { address: "", namespace: "default", isOwn: false });
    await through.close();
    await gateway.stop();
  });
});

async function connect(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  await connection.workflowService.describeNamespace({ namespace: "default" });
  return connection;
}
