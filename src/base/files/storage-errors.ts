import { readFileSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { EverturnError, isEverturnError } from "../errors/everturn-error.ts";
import { isAbsence } from "../errors/system-error.ts";

/** The system's error codes for a full disk. */
const full = new Set(["ENOSPC", "EDQUOT"]);

/**
 * The system's error codes for a disk that does not answer for now, in words. Absence (ENOENT, ENOTDIR) is an
 * answer.
 */
const failing: Record<string, string> = {
  EROFS: "its file system is read-only",
  EACCES: "this user has no access to it",
  EPERM: "this user has no access to it",
  EIO: "the disk reports an input/output error",
  EREMOTEIO: "the disk reports an input/output error",
  ENXIO: "the disk is gone",
  ENODEV: "the disk is gone",
  ENOMEDIUM: "the disk is gone",
  EBADMSG: "the file system is damaged",
  EUCLEAN: "the file system is damaged",
  ESTALE: "the file server no longer knows the file",
  ETIMEDOUT: "the file server does not answer",
  EHOSTDOWN: "the file server does not answer",
  EHOSTUNREACH: "the file server does not answer",
  ENETDOWN: "the file server does not answer",
  ENETUNREACH: "the file server does not answer",
  ENOTCONN: "the file server does not answer",
  ESHUTDOWN: "the file server does not answer",
  ENOLCK: "the file server does not answer",
  EPROTO: "the file server's answer makes no sense",
  UNKNOWN: "the file system failed without giving a reason",
  EAGAIN: "the file system is busy",
  EINTR: "the file system was interrupted",
  EBUSY: "the file system is busy",
  ENOMEM: "the system has no memory left for it",
  ENOBUFS: "the system has no memory left for it",
  EMFILE: "this process has too many files open (`ulimit -n`)",
  ENFILE: "too many files are open on this machine",
};

/** The numbers of errors that libuv has no name for. It reports them as "Unknown system error -116". */
const unnamed: Record<number, string> = {
  [-74]: "EBADMSG",
  [-116]: "ESTALE",
  [-117]: "EUCLEAN",
  [-121]: "EREMOTEIO",
  [-123]: "ENOMEDIUM",
};

/**
 * Converts the error of a write to `path` that failed for lack of space or access to DISK_FULL or
 * STORE_NOT_WRITABLE. Returns any other error unchanged. `needed` is the number of bytes to write, if known.
 */
export function storageError(error: unknown, path: string, needed?: number): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  if (full.has(code)) {
    const free = mebibytes(freeBytes(dirname(path)));
    const wanted = needed === undefined ? "" : ` ${mebibytes(needed)} are needed,`;
    return new EverturnError("DISK_FULL", { file: path, wanted, free }, { cause: error });
  }
  const reason = failing[code];
  if (reason === undefined) return error;
  return new EverturnError("STORE_NOT_WRITABLE", { file: path, reason }, { cause: error });
}

/**
 * Converts the error of a read of `path` that the disk did not answer to STORE_NOT_READABLE. Returns any other error
 * unchanged.
 */
export function readingError(error: unknown, path: string): unknown {
  const reason = failing[codeOf(error) ?? ""];
  if (reason === undefined) return error;
  return new EverturnError("STORE_NOT_READABLE", { file: path, reason }, { cause: error });
}

/** Returns `look`'s result. Throws STORE_NOT_READABLE if the disk does not answer. */
export function looking<Result>(path: string, look: () => Result): Result {
  try {
    return look();
  } catch (error) {
    throw readingError(error, path);
  }
}

/** The text of a small file; "" if it does not exist. Throws STORE_NOT_READABLE. */
export function textAt(path: string): string {
  return looking(path, () => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if (isAbsence(error)) return "";
      throw error;
    }
  });
}

/**
 * `readingError` for code that reads files in a folder and reports errors in its own words. It finds the disk's
 * failure among the error's causes or in a native library's text (`system error number 5`, `Input/output error`).
 */
export function readingErrorWithin(error: unknown, folder: string): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isStorageError(cause)) return cause;
    if ("path" in cause && typeof cause.path === "string" && !cause.path.startsWith(folder)) continue;
    for (const named of [cause, nativeError(cause)]) {
      const told = readingError(named, folder);
      if (told !== named) return told;
    }
  }
  return error;
}

/** A native library's error with the code that its text names; the error itself if it names none. */
function nativeError(error: Error): Error {
  const { message } = error;
  const code =
    /\b(E[A-Z]{2,}): /.exec(message)?.[1] ??
    Object.entries(nativeTexts).find(([text]) => message.includes(text))?.[1] ??
    numbers[/system error (?:number |-)(\d+)/.exec(message)?.[1] ?? ""];
  return code === undefined ? error : Object.assign(new Error(message, { cause: error }), { code });
}

/**
 * The wording of C libraries. ONNX Runtime prints the number of an error without a text, and libuv of one without a
 * name.
 */
const nativeTexts: Record<string, string> = {
  "Input/output error": "EIO",
  "Stale file handle": "ESTALE",
  "Permission denied": "EACCES",
  "Too many open files": "EMFILE",
  "Transport endpoint is not connected": "ENOTCONN",
  "Connection timed out": "ETIMEDOUT",
  "Resource temporarily unavailable": "EAGAIN",
  "Interrupted system call": "EINTR",
};
const numbers: Record<string, string> = {
  4: "EINTR",
  5: "EIO",
  11: "EAGAIN",
  13: "EACCES",
  24: "EMFILE",
  74: "EBADMSG",
  107: "ENOTCONN",
  110: "ETIMEDOUT",
  116: "ESTALE",
  117: "EUCLEAN",
  121: "EREMOTEIO",
  123: "ENOMEDIUM",
};

/** Whether `error` reports that something can't be written or read for now. */
export function isStorageError(error: unknown): error is EverturnError {
  return (
    isEverturnError(error) &&
    (error.code === "DISK_FULL" || error.code === "STORE_NOT_WRITABLE" || error.code === "STORE_NOT_READABLE")
  );
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const unknown = "errno" in error && typeof error.errno === "number" ? unnamed[error.errno] : undefined;
  return unknown ?? error.code;
}

/** Free bytes on the file system of `folder`, or of its nearest existing parent; 0 if unknown. */
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
