import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../errors/system-error.ts";
import { flushFolder } from "./flush.ts";
import { isThere } from "./is-there.ts";
import { requireMarkToWrite } from "./marked-folder.ts";

/**
 * Makes a folder and those above it; with `flush` their names survive a power failure. A run's folder that went away with its
 * file system is not made again (`heedMark`). Where the file system is read-only, Node's own `recursive` says ENOENT, as if the
 * folder above were missing (nodejs/node, `MKDirpSync`): this says EROFS. Throws STORE_NOT_WRITABLE, STORE_NOT_READABLE, and the
 * system's own errors.
 */
export function makeFolder(path: string, flush = false): void {
  requireMarkToWrite(path);
  if (isThere(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, flush);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isSystemError(error, "EEXIST") || !isThere(path)) throw error; // else another process made it meanwhile
  }
  if (flush) flushFolder(parent);
}
