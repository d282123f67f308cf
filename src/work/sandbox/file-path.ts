import { posix } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";

/** Characters that stand for bytes that are not UTF-8, as in Python's `surrogateescape`. */
const escaped = /[\udc80-\udcff]/gu;

/**
 * Normalizes the path of a session's file. Bytes that are not UTF-8 appear as U+DC80 to U+DCFF. Throws
 * SANDBOX_PATH_INVALID for a path outside the working folder, and for one that no file can have.
 */
export function filePath(path: string): string {
  const plain = posix.normalize(path);
  const isBelow = plain !== "." && !plain.startsWith("/") && !plain.split("/").includes("..");
  const isNamed = plain.replace(escaped, "").isWellFormed() && !plain.includes("\0");
  if (!isBelow || !isNamed || plain.endsWith("/")) throw new EverturnError("SANDBOX_PATH_INVALID", { path });
  return plain;
}

/** Whether a path is the normalized path of a session's file. */
export function isFilePath(path: string): boolean {
  try {
    return filePath(path) === path;
  } catch {
    return false;
  }
}
