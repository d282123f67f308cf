import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { registerSearchAttributes } from "../../src/control/temporal/search-attributes.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a server that others started", () => {
  const folder = temporaryFolder();
  let server: ChildProcess;
  let connection: Connection;

  beforeAll(async () => {
    const [port, binary] = [await freePort(0), await findServerBinary()];
    const database = ["--db-filename", join(folder, "server.db")];
    // As servers in production are: what is registered is known once their caches are read anew.
    const cached = ["--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=false"];
    const place = ["--headless", "--ip", "127.0.0.1", "--port", String(port)];
    server = spawn(binary, ["server", "start-dev", ...place, ...database, ...cached], { stdio: "ignore" });
    connection = await vi.waitFor(() => connect(`127.0.0.1:${port}`), { timeout: 100_000, interval: 100 });
  });

  afterAll(async () => {
    await connection.close();
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
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
});

async function connect(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  await connection.workflowService.describeNamespace({ namespace: "default" });
  return connection;
}
