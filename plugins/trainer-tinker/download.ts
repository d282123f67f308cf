import { createWriteStream, type Stats } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TinkerClient, TinkerModel } from "@everturn/tinker";
import { adapterConfigFile, copyPolicyFiles, EverturnError, readAdapter } from "everturn/engine";
import { extract, ReadEntry } from "tar";
import { adapterParams, clientOf, openSession, releaseModels, releasePatience } from "./connection.ts";
import { pointerFile, readPointer } from "./policy-files.ts";
import { profiles } from "./profiles.ts";
import type { ServerTrainerConfig } from "./settings.ts";

/** The files of an adapter in PEFT's format. */
const adapterFiles = [adapterConfigFile, "adapter_model.safetensors"];

/** The name of the weights that are saved for a download, and the seconds after which the server may delete them. */
const saved = { name: "export", ttlSeconds: 3600 };

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
    await downloadAdapter(pointer.path, target, config);
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/[.\s]+$/, "");
    const params = { checkpoint: pointer.path, url: config.url, reason };
    throw new EverturnError("TINKER_DOWNLOAD_FAILED", params, { cause });
  }
  await readAdapter(target);
  return true;
}

/** Servers export only current weights, so a new model loads the checkpoint first. */
async function downloadAdapter(path: string, target: string, config: ServerTrainerConfig): Promise<void> {
  const { baseModel, server, lora } = config;
  const { exportsFiles } = profiles[server];
  const client = clientOf(config);
  const session = await openSession(client);
  try {
    const model = await session.createModel({ baseModel, lora: adapterParams(lora) });
    await model.loadWeights(path, { optimizer: false });
    const copy = await (exportsFiles ? downloadFiles : downloadArchive)(client, model, target);
    // The server drops what remains with the session.
    const signal = AbortSignal.timeout(releasePatience);
    await Promise.allSettled([client.checkpoints.delete(copy, { signal }), releaseModels([model])]);
  } finally {
    session.close();
  }
}

/** Downloads an archive of the adapter. Returns the path of the weights that were saved for it. */
async function downloadArchive(client: TinkerClient, model: TinkerModel, target: string): Promise<string> {
  const { path = "" } = await model.saveWeightsForSampler({ path: saved.name });
  const folder = await mkdtemp(join(tmpdir(), "everturn-archive-"));
  try {
    const file = join(folder, "adapter.tar.gz");
    await client.checkpoints.download(path, file);
    await extract({ file, cwd: target, strict: true, filter: isAdapterFile });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return path;
}

/** Only the adapter's own files are written, in the folder itself. */
function isAdapterFile(path: string, entry: Stats | ReadEntry): boolean {
  const isFile = entry instanceof ReadEntry && entry.type === "File";
  return isFile && adapterFiles.includes(posix.normalize(path));
}

/** The same for a server that offers each file at an address of its own. */
async function downloadFiles(client: TinkerClient, model: TinkerModel, target: string): Promise<string> {
  const { path } = await model.saveWeightsExternal(saved.name, { ttlSeconds: saved.ttlSeconds });
  for (const [name, address] of Object.entries(await client.checkpoints.externalUrls(path))) {
    if (!adapterFiles.includes(basename(name))) continue;
    const { body, status } = await fetch(address);
    if (status !== 200 || body === null) throw new Error(`the address of ${name} answers ${status}`);
    await pipeline(Readable.fromWeb(body), createWriteStream(join(target, basename(name))));
  }
  return path;
}
