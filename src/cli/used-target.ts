import { readdir } from "node:fs/promises";
import { EverturnError } from "../errors/everturn-error.ts";
import { isSystemError } from "../errors/system-error.ts";
import { folderOnce } from "../files/folder-once.ts";

/** Throws TARGET_NOT_EMPTY unless `path` is free: nothing there, or an empty folder. */
export async function refuseUsedTarget(path: string): Promise<void> {
  try {
    if ((await readdir(path)).length === 0) return;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return;
    if (!isSystemError(error, "ENOTDIR")) throw error;
  }
  throw new EverturnError("TARGET_NOT_EMPTY", { path });
}

/** Writes a new folder, whole or not at all. Throws TARGET_NOT_EMPTY if one has come to be there meanwhile. */
export async function writeNewFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (!(await folderOnce(path, fill))) throw new EverturnError("TARGET_NOT_EMPTY", { path });
}
