import { createWriteStream, type Stats } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TinkerModel } from "@everturn/tinker";
import { adapterConfigFile } from "everturn/engine";
import { extract, ReadEntry } from "tar";
import { releasePatience, type ServerConnection } from "./connection.ts";

/** The files of an adapter in PEFT's format. */
const adapterFiles = [adapterConfigFile, "adapter_model.safetensors"];

/** The name of the weights that are saved for a download, and the seconds after which the server may delete them. */
const saved = { name: "export", ttlSeconds: 3600 };

type Connection = Pick<ServerConnection, "client" | "call">;

/** Downloads the adapter of a model's current weights into `folder`. Throws the errors of the connection's calls. */
export async function downloadAdapter(
  way: "archive" | "files" | undefined,
  connection: Connection,
  model: TinkerModel,
  folder: string,
): Promise<void> {
  const copy = await (way === "files" ? downloadFiles : downloadArchive)(connection, model, folder);
  const signal = AbortSignal.timeout(releasePatience);
  await Promise.allSettled([connection.client.checkpoints.delete(copy, { signal })]);
}

/** Downloads an archive of the adapter. Returns the path of the weights that were saved for it. */
async function downloadArchive(
  { client, call }: Connection,
  model: TinkerModel,
  target: string,
): Promise<string> {
  const { path = "" } = await call((options) =>
    model.saveWeightsForSampler({ ...options, path: saved.name }),
  );
  const temporary = await mkdtemp(join(tmpdir(), "everturn-archive-"));
  try {
    const file = join(temporary, "adapter.tar.gz");
    await call((options) => client.checkpoints.download(path, file, options));
    await extract({ file, cwd: target, strict: true, filter: isAdapterFile });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return path;
}

/** Only the adapter's own files are written, in the folder itself. */
function isAdapterFile(path: string, entry: Stats | ReadEntry): boolean {
  const isFile = entry instanceof ReadEntry && entry.type === "File";
  return isFile && adapterFiles.includes(posix.normalize(path));
}

/** The same for a server that offers each file at an address of its own. */
async function downloadFiles(
  { client, call }: Connection,
  model: TinkerModel,
  target: string,
): Promise<string> {
  const { ttlSeconds } = saved;
  const { path } = await call((options) => model.saveWeightsExternal(saved.name, { ...options, ttlSeconds }));
  const addresses = await call((options) => client.checkpoints.externalUrls(path, options));
  for (const [name, address] of Object.entries(addresses)) {
    if (!adapterFiles.includes(basename(name))) continue;
    await call(async ({ signal }) => {
      const { body, status } = await fetch(address, { signal });
      if (status !== 200 || body === null) throw new Error(`the address of ${name} answers ${status}`);
      await pipeline(Readable.fromWeb(body), createWriteStream(join(target, basename(name))));
    });
  }
  return path;
}
