import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { EverturnError, isEverturnError } from "../errors/everturn-error.ts";

/** What the system calls a full disk, and a store that can't be written, in words. */
const full = new Set(["ENOSPC", "EDQUOT"]);
const notWritable: Record<string, string> = {
  EROFS: "its file system is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EIO: "the disk reports an input/output error",
  EMFILE: "this process has too many files open (`ulimit -n`)",
  ENFILE: "too many files are open on this machine",
};

/**
 * The error of the table for a write of `path` that failed for want of space or access: DISK_FULL or
 * STORE_NOT_WRITABLE; any other error as it is. `needed`: bytes that were to be written, if known.
 */
export function storageError(error: unknown, path: string, needed?: number): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  if (full.has(error.code)) {
    const free = mebibytes(freeBytes(dirname(path)));
    const wanted = needed === undefined ? "" : ` ${mebibytes(needed)} are needed,`;
    return new EverturnError("DISK_FULL", { file: path, wanted, free }, { cause: error });
  }
  const reason = notWritable[error.code];
  if (reason === undefined) return error;
  return new EverturnError("STORE_NOT_WRITABLE", { file: path, reason }, { cause: error });
}

/** Whether `error` says that something could not be written, for now. */
export function isStorageError(error: unknown): error is EverturnError {
  return isEverturnError(error) && (error.code === "DISK_FULL" || error.code === "STORE_NOT_WRITABLE");
}

/** Bytes free on the file system of `folder`, or of the nearest folder above it that exists; 0 if unknown. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return dirname(folder) === folder ? 0 : freeBytes(dirname(folder));
  }
}

function mebibytes(bytes: number): string {
  const value = bytes / 2 ** 20;
  return value < 0.1 && bytes > 0 ? `${Math.ceil(bytes / 1024)} KiB` : `${value.toFixed(1)} MiB`;
}
