import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../errors/system-error.ts";
import { flushFolder } from "./flush.ts";
import { isThere } from "./is-there.ts";
import { requireMarkToWrite } from "./marked-folder.ts";

/**
 * Creates a folder and its parents. With `flush`, their names survive a power failure. It does not recreate a run's
 * folder that disappeared with its file system (`heedMark`). On a read-only file system, Node's own `recursive`
 * reports ENOENT as if the parent were missing (nodejs/node, `MKDirpSync`), while this reports EROFS. Throws
 * STORE_NOT_WRITABLE, STORE_NOT_READABLE and the system's own errors.
 */
export function makeFolder(path: string, flush = false): void {
  requireMarkToWrite(path);
  if (isThere(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, flush);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isSystemError(error, "EEXIST") || !isThere(path)) throw error; // else another process created it
  }
  if (flush) flushFolder(parent);
}
