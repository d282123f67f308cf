import { posix } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";

/** What a byte stands as that is no UTF-8: Python's `surrogateescape`. */
const escaped = /[\udc80-\udcff]/gu;

/**
 * The path of a session's file, in its plain form. Of a name that is not UTF-8, the bytes that are none stand as U+DC80 to U+DCFF. Throws
 * SANDBOX_PATH_INVALID for one that is not below the working folder, and for one that no file can have.
 */
export function filePath(path: string): string {
  const plain = posix.normalize(path);
  const isBelow = plain !== "." && !plain.startsWith("/") && !plain.split("/").includes("..");
  const isNamed = plain.replace(escaped, "").isWellFormed() && !plain.includes("\0");
  if (!isBelow || !isNamed || plain.endsWith("/")) throw new EverturnError("SANDBOX_PATH_INVALID", { path });
  return plain;
}

/** Whether it is the path of a session's file, in its plain form. */
export function isFilePath(path: string): boolean {
  try {
    return filePath(path) === path;
  } catch {
    return false;
  }
}
