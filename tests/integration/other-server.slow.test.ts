import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { claimRun, type HeldRun } from "../../src/control/supervision/claim-run.ts";
import { startWorkerProcess } from "../../src/control/supervision/worker-process.ts";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const plan = await loadPlan(join(import.meta.dirname, "..", "pipelines", "scripted.yaml"));
const run = await createRunFolder(plan, { runs });
const folder = runFolder(runs, run);
const ports = { server: await freePort(17_433), ui: await freePort(18_433) };
const address = `127.0.0.1:${ports.server}`;
const binary = await findServerBinary();
let server: DevServer | undefined;
let held: HeldRun;

beforeAll(async () => {
  held = await claimRun(run, folder);
  const { cluster } = await serve("own.db");
  await held.tell({ address, cluster });
});
afterAll(async () => {
  await server?.stop();
  await held.release();
});

/** Starts a server on the run's port, in place of the one that is there. */
async function serve(database: string): Promise<DevServer> {
  await server?.stop();
  const paths = { database: join(runs, database), log: join(runs, `${database}.log`) };
  server = await startDevServer({ binary, ...paths, ports });
  return server;
}

/** A worker whose command is this test, which never kills it. */
function startWorker() {
  const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");
  const parameters = ["worker", "--role", "trainer", "--run", run, "--runs", runs, "--address", address];
  const child = spawn(process.execPath, [main, ...parameters], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let hasEnded = false;
  child.once("exit", () => {
    hasEnded = true;
  });
  return { child, hasEnded: () => hasEnded };
}

test("a worker whose command dies while it starts ends, whenever that is", async () => {
  for (const moment of [0, 500, 1500]) {
    const { child, hasEnded } = startWorker();
    await sleep(moment);
    if (child.connected) child.disconnect();
    await vi.waitUntil(hasEnded, { timeout: 250_000 });
  }
});

test("a worker goes on when its server comes back, and ends when another run's has taken the port", async () => {
  const options = { runs, run, address, queuePrefix: "" };
  const worker = await startWorkerProcess("trainer", options);
  onTestFinished(() => worker.stop());
  let hasEnded = false;
  void worker.ended.then(() => {
    hasEnded = true;
  });

  await serve("own.db");
  await sleep(3000);
  expect(hasEnded).toBe(false);

  await serve("another.db");
  await vi.waitUntil(() => hasEnded, { timeout: 250_000 });
  const log = readFileSync(folder.log("trainer"), "utf8");
  expect(log).toContain(`TEMPORAL_OTHER_SERVER: The server at ${address} is not the run's Temporal server`);
  await expect(startWorkerProcess("trainer", options)).rejects.toThrow("TEMPORAL_OTHER_SERVER");
});

test("a worker whose server and command are gone ends all the same", async () => {
  await serve("own.db");
  const { child, hasEnded } = startWorker();
  await once(child, "message");
  await server?.stop();
  child.disconnect();
  await vi.waitUntil(hasEnded, { timeout: 250_000 });
});

test("a server waits for one that is about to end, and has its database still", async () => {
  await server?.stop();
  const other = new DatabaseSync(join(runs, "own.db"));
  other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
  let hasEnded = false;
  setTimeout(() => {
    other.close();
    hasEnded = true;
  }, 2000);
  await expect(serve("own.db")).resolves.toMatchObject({ address });
  expect(hasEnded).toBe(true);
});
