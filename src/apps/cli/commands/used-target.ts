import { readdir, rename, rm } from "node:fs/promises";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isSystemError } from "../../../base/errors/system-error.ts";
import { flushAll } from "../../../base/files/flush.ts";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { storageError } from "../../../base/files/storage-errors.ts";
import { temporaryName } from "../../../base/files/temporary-name.ts";

/** Throws TARGET_NOT_EMPTY unless nothing or an empty folder is at `path`. */
export async function refuseUsedTarget(path: string): Promise<void> {
  try {
    if ((await readdir(path)).length === 0) return;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return;
    if (!isSystemError(error, "ENOTDIR")) throw error;
  }
  throw new EverturnError("TARGET_NOT_EMPTY", { path });
}

/** Writes a new folder, whole or not at all. Throws TARGET_NOT_EMPTY if another one appeared meanwhile. */
export async function writeNewFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const temporary = temporaryName(path);
  try {
    makeFolder(temporary);
    await fill(temporary);
    await flushAll(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {}); // the first error explains more
    const isUsed = isSystemError(error, "ENOTEMPTY") || isSystemError(error, "EEXIST");
    throw isUsed ? new EverturnError("TARGET_NOT_EMPTY", { path }) : storageError(error, path);
  }
}
