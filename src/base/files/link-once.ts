import { linkSync, statSync } from "node:fs";
import { isSystemError } from "../errors/system-error.ts";

/**
 * Gives a file its name; false if another has it. A network file system that repeats a request whose answer was lost
 * says that the name is taken, or worse, when it is this very file that has it.
 */
export function linkOnce(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) throw error; // there is no folder for it
    if (isSameFile(temporary, path)) return true;
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  }
}

function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
}
