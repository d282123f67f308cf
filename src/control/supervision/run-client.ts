import type { Client } from "@temporalio/client";
import type { RunFile } from "../../contracts/run.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { runEncryption } from "../encryption/run-encryption.ts";
import { connectClient } from "../temporal/client.ts";
import { startOwnServer } from "../temporal/own-server.ts";
import { claimRun } from "./claim-run.ts";
import { heldRunAddress, noServer } from "./run-holder.ts";

/**
 * Runs `work` with a client of a run's server. If the run's own server is down, it is started without workers.
 * Throws RUN_NOT_FOUND, the errors of starting or reaching the server, and those of `runEncryption`.
 */
export async function withRunClient<Result>(
  options: { runs: string; run: string; temporal: string | undefined },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { runs, run } = options;
  const file = await readRunFile(runs, run);
  const folder = runFolder(runs, run);
  const address = file.address ?? (await heldRunAddress(folder));
  if (address !== undefined) return connected(runs, file, address, work);
  const held = await claimRun(run, folder);
  try {
    const server = await startOwnServer(folder, options.temporal, {
      onSpawn: (spawned) => held.tell({ server: spawned }),
    });
    try {
      return await connected(runs, file, server.address, work);
    } finally {
      await server.stop();
    }
  } finally {
    await held.release();
  }
}

/**
 * Runs `work` with a client of a run's server, which must be up, because a live trajectory needs workers too. Throws
 * RUN_NOT_FOUND, RUN_HAS_NO_SERVER, RUN_HELD_ELSEWHERE, TEMPORAL_UNREACHABLE, and the errors of `runEncryption`.
 */
export async function withLiveRun<Result>(
  { runs, run }: { runs: string; run: string },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const file = await readRunFile(runs, run);
  const folder = runFolder(runs, run);
  const address = file.address ?? (await heldRunAddress(folder));
  if (address === undefined) throw await noServer(run, folder);
  return connected(runs, file, address, work);
}

async function connected<Result>(
  runs: string,
  file: RunFile,
  address: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const encryption = await runEncryption(runs, file);
  const controller = new AbortController();
  const location = { address, namespace: file.namespace, isOwn: file.address === undefined };
  const { client, close } = await connectClient(location, [], controller.signal, { encryption });
  try {
    return await work(client);
  } finally {
    controller.abort();
    await close();
  }
}
