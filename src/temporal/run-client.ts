import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Client } from "@temporalio/client";
import type { RunFile } from "../contracts/run.ts";
import { readRunFile } from "../runs/open-runs.ts";
import { type RunFolder, runFolder } from "../runs/run-folder.ts";
import { claimRun, clearSession, readSession, writeSession } from "../runs/session-file.ts";
import { connectClient } from "./client.ts";
import { startDevServer } from "./dev-server.ts";
import { findServerBinary } from "./server-binary.ts";

/**
 * Does `work` with a client of a run's server: the one that is up, or the run's own, started for it without workers.
 * Throws RUN_NOT_FOUND, and what starting or reaching the server throws.
 */
export async function withRunClient<Result>(
  options: { runs: string; run: string; temporal: string | undefined },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { runs, run } = options;
  const file = await readRunFile(runs, run);
  const folder = runFolder(runs, run);
  const address = file.address ?? (await addressOfSession(folder));
  if (address !== undefined) return connected(file, address, work);
  await claimRun(run, folder);
  try {
    const log = folder.log("temporal");
    await mkdir(dirname(log), { recursive: true });
    const server = await startDevServer({
      binary: await findServerBinary(options.temporal),
      database: folder.database,
      log,
      onSpawn: (pid) => writeSession(folder, { pid: process.pid, server: pid }),
    });
    try {
      return await connected(file, server.address, work);
    } finally {
      await server.stop();
    }
  } finally {
    await clearSession(folder);
  }
}

/** Where the run's own server is, if a process works on the run now. */
async function addressOfSession(folder: RunFolder): Promise<string | undefined> {
  const session = await readSession(folder);
  if (session === undefined) return undefined;
  try {
    process.kill(session.pid, 0);
    return session.address;
  } catch {
    return undefined; // it was killed
  }
}

async function connected<Result>(
  file: RunFile,
  address: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const location = { address, namespace: file.namespace, isOwn: file.address === undefined };
  const { client, close } = await connectClient(location, [], controller.signal);
  try {
    return await work(client);
  } finally {
    controller.abort();
    await close();
  }
}
