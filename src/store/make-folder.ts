import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Where the file system is read-only, Node's own `recursive` says ENOENT, as if the
 * folder above were missing (nodejs/node, `MKDirpSync`): this says EROFS.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error; // else another process made it meanwhile
  }
}
