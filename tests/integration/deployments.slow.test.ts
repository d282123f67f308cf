import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { deleteDeployments } from "../../src/control/supervision/delete-deployments.ts";
import { connectClient } from "../../src/control/temporal/client.ts";
import { makeCurrent } from "../../src/control/temporal/deployment.ts";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { startGateway } from "../support/temporal-gateway.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const { signal } = new AbortController();

let server: DevServer;

beforeAll(async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  server = await startDevServer({ binary: await findServerBinary(), ...paths });
});

afterAll(() => server.stop());

test("deployments of runs that are over are deleted, of others not", async () => {
  const { address } = server;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const names = async () => {
    const { workerDeployments } = await client.workflowService.listWorkerDeployments({
      namespace: "default",
    });
    return workerDeployments.map(({ name }) => name).sort();
  };
  try {
    const location = { address, namespace: "default", isOwn: false };
    for (const run of ["done", "under-way", "own", "elsewhere"]) {
      if (run !== "elsewhere") {
        mkdirSync(join(folder, "runs", run), { recursive: true });
        writeFileSync(join(folder, "runs", run, "run.json"), "{}");
      }
      await makeCurrent(client, location, run, "1234567890abcdef", signal);
      await makeCurrent(client, location, run, "fedcba0987654321", signal);
    }
    await client.workflow.start("training", { workflowId: "under-way", taskQueue: "nobody", args: [] });
    await expect.poll(names, { timeout: 250_000 }).toEqual(["done", "elsewhere", "own", "under-way"]);
    const session = join(folder, "runs", "done", "session.json");
    writeFileSync(session, "{}");
    expect(await deleteDeployments(client, { runs: join(folder, "runs"), except: "own" })).toEqual([]);
    rmSync(session);
    expect(await deleteDeployments(client, { runs: join(folder, "runs"), except: "own" })).toEqual(["done"]);
    await expect.poll(names, { timeout: 250_000 }).toEqual(["elsewhere", "own", "under-way"]);
    await makeCurrent(client, location, "done", "1234567890abcdef", signal); // it is resumed
    await expect.poll(names, { timeout: 250_000 }).toContain("done");

    const deploymentVersion = { deploymentName: "done", buildId: "1234567890abcdef" };
    const native = await NativeConnection.connect({ address });
    const worker = await Worker.create({
      connection: native,
      taskQueue: "polled",
      workflowsPath: join(import.meta.dirname, "../../workflows/step.ts"),
      workerDeploymentOptions: {
        version: deploymentVersion,
        useWorkerVersioning: true,
        defaultVersioningBehavior: "PINNED",
      },
    });
    const ended = worker.run();
    const isKnown = async () => {
      const { workerDeploymentVersionInfo: known } =
        await client.workflowService.describeWorkerDeploymentVersion({
          namespace: "default",
          deploymentVersion,
        });
      return known?.taskQueueInfos?.some(({ name }) => name === "polled") ?? false;
    };
    await expect.poll(isKnown, { timeout: 250_000 }).toBe(true);
    worker.shutdown();
    await ended;
    await native.close();
    const [others, own] = [{ runs: join(folder, "runs"), except: "own" }, await names()];
    expect(await deleteDeployments(client, others), "it polled a moment ago").toEqual([]);
    expect(await names()).toEqual(own);
  } finally {
    await connection.close();
  }
});

test("a server whose internal workers are not up yet gets half a minute, and then an error names it", async () => {
  const gateway = await startGateway(server.address);
  const { address } = gateway;
  const location = { address, namespace: "default", isOwn: false };
  const closing = new AbortController();
  const { client, close } = await connectClient(location, [], closing.signal);
  onTestFinished(async () => {
    closing.abort();
    await close();
    await gateway.stop();
  });
  let refusals = 0;
  const refuse = (code: number) =>
    gateway.refuse((call) => {
      if (call !== "SetWorkerDeploymentCurrentVersion") return undefined;
      refusals++;
      return { code, message: "the deployment has no worker" };
    });
  refuse(13);
  const becoming = makeCurrent(client, location, "early", "1234567890abcdef", signal);
  await vi.waitUntil(() => refusals >= 2, { timeout: 60_000 });
  gateway.refuse(() => undefined);
  await becoming;
  const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
    namespace: "default",
    deploymentName: "early",
  });
  expect(workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId).toBe("1234567890abcdef");

  refuse(13);
  await expect(makeCurrent(client, location, "early", "fedcba0987654321", signal)).rejects.toThrow(
    new RegExp(
      `^The Temporal server at ${address} can't record which workflow code early uses: .*the deployment has no worker`,
    ),
  );
  refuse(12);
  await expect(makeCurrent(client, location, "early", "fedcba0987654321", signal)).rejects.toMatchObject({
    code: "TEMPORAL_TOO_OLD",
  });
  refuse(16);
  await expect(makeCurrent(client, location, "early", "fedcba0987654321", signal)).rejects.toMatchObject({
    code: "TEMPORAL_UNAUTHORIZED",
  });
});
