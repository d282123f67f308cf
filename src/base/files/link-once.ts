import { linkSync, statSync } from "node:fs";
import { isSystemError } from "../errors/system-error.ts";

/**
 * Hard-links a temporary file to its final name. Returns false if another file has that name. A network file system
 * that repeats a request whose answer was lost reports the name as taken, or worse, although this very file has it.
 */
export function linkOnce(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) throw error; // its folder does not exist
    if (isSameFile(temporary, path)) return true;
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  }
}

function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
}
