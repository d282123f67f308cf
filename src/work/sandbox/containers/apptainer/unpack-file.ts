import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../../../base/files/cache-folder.ts";
import { cachedFolder } from "../../../../base/files/cached-folder.ts";
import { copyFiles, type FilesCopy } from "../image/files-folder.ts";

const run = promisify(execFile);

/**
 * Unpacks an image that Apptainer built to the user's cache, unless it is a folder. For the programs of another user, copies it where that
 * user can read it. Throws for a path that is not an image.
 */
export async function unpackFile(
  program: string,
  path: string,
  owner: number | undefined,
): Promise<FilesCopy> {
  const whole = await realpath(path);
  const { size, mtimeMs, isFolder } = await described(whole);
  const root = isFolder ? whole : join(await unpacked(program, whole, [size, mtimeMs]), "root");
  if (owner === undefined) return { root, remove: async () => {} };
  return copyFiles(root, owner);
}

async function described(path: string) {
  const found = await stat(path);
  return { size: found.size, mtimeMs: found.mtimeMs, isFolder: found.isDirectory() };
}

function unpacked(program: string, path: string, version: readonly number[]): Promise<string> {
  const name = createHash("sha256")
    .update(JSON.stringify(["apptainer", path, ...version]))
    .digest("hex");
  return cachedFolder(join(cacheFolder(), "images", name.slice(0, 32)), async (folder) => {
    await run(program, ["--silent", "build", "--sandbox", join(folder, "root"), path]);
  });
}
