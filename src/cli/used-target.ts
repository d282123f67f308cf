import { readdir } from "node:fs/promises";
import { EverturnError } from "../errors/everturn-error.ts";
import { isSystemError } from "../runs/files.ts";

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
