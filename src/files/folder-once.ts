import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isSystemError } from "../errors/system-error.ts";
import { flushAll, flushFolder } from "./flush.ts";
import { makeFolder } from "./make-folder.ts";
import { storageError } from "./storage-errors.ts";
import { temporaryName } from "./temporary-name.ts";

/**
 * Makes a folder whole or not at all: `fill` writes into a temporary one, which is flushed and takes the name `path`.
 * The first writer wins: false if a folder was there already. Throws DISK_FULL, STORE_NOT_WRITABLE.
 */
export async function folderOnce(path: string, fill: (temporary: string) => Promise<void>): Promise<boolean> {
  const temporary = temporaryName(path);
  await fillFolders([temporary], () => fill(temporary));
  return takeName(temporary, path);
}

/** Makes folders, has them filled and flushes them, or leaves none. Throws DISK_FULL, STORE_NOT_WRITABLE. */
export async function fillFolders(paths: readonly string[], fill: () => Promise<void>): Promise<void> {
  try {
    for (const path of paths) makeFolder(path);
    await fill();
    for (const path of paths) await flushAll(path);
  } catch (error) {
    await removeFolders(paths);
    throw storageError(error, paths[0] ?? "");
  }
}

/** Gives a filled folder its name, unless another folder has it: then it is deleted, and false. */
export async function takeName(temporary: string, path: string): Promise<boolean> {
  try {
    await rename(temporary, path);
    flushFolder(dirname(path));
    return true;
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY") && !isSystemError(error, "EEXIST"))
      throw storageError(error, path);
    await removeFolders([temporary]);
    return false;
  }
}

/** Deletes temporary folders; one that can't be deleted now is swept later. */
export async function removeFolders(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => {});
}
