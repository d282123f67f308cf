import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { flushFolder } from "./flush.ts";

/**
 * Makes a folder and those above it; with `flush` their names survive a power failure. Where the file system is
 * read-only, Node's own `recursive` says ENOENT, as if the folder above were missing (nodejs/node, `MKDirpSync`): this
 * says EROFS.
 */
export function makeFolder(path: string, flush = false): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, flush);
  try {
    mkdirSync(path);
    if (flush) flushFolder(parent);
  } catch (error) {
    if (!existsSync(path)) throw error; // else another process made it meanwhile
  }
}
