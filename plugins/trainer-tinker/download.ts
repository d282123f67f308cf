import { rm } from "node:fs/promises";
import { join } from "node:path";
import { copyPolicyFiles, EverturnError, readAdapter } from "everturn/engine";
import { openServer } from "./open-server.ts";
import { pointerFile, readPointer } from "./policy-files.ts";
import type { ServerTrainerConfig } from "./settings.ts";

/**
 * Writes a version into `target`: its files, and the adapter that the server saved. Returns false for a version of the
 * server's base weights. Throws TINKER_DOWNLOAD_FAILED, and ADAPTER_INVALID for an archive without an adapter.
 */
export async function downloadVersion(
  policy: string,
  target: string,
  config: ServerTrainerConfig,
): Promise<boolean> {
  const pointer = await readPointer(policy);
  if (pointer?.path === undefined) return false;
  await copyPolicyFiles(target, policy);
  await rm(join(target, pointerFile));
  try {
    await download(pointer.path, target, config);
  } catch (cause) {
    const reason = reasonOf(cause).replace(/[.\s]+$/, "");
    const params = { checkpoint: pointer.path, url: config.url, reason };
    throw new EverturnError("TINKER_DOWNLOAD_FAILED", params, { cause });
  }
  await readAdapter(target);
  return true;
}

async function download(path: string, target: string, config: ServerTrainerConfig): Promise<void> {
  const server = await openServer(config);
  try {
    await server.download(path, target);
  } finally {
    await server.close();
  }
}

/** Why a call failed. */
function reasonOf(error: unknown): string {
  if (error instanceof EverturnError && typeof error.params.reason === "string") return error.params.reason;
  return error instanceof Error ? error.message : String(error);
}
