import { statSync } from "node:fs";
import { requireMarkToRead } from "./marked-folder.ts";
import { isStorageError, looking } from "./storage-errors.ts";

/**
 * Whether something is at `path`, following links. `existsSync` answers false on any error; this only answers once
 * the disk does. Throws STORE_NOT_READABLE.
 */
export function isThere(path: string): boolean {
  return sizeAt(path) !== undefined;
}

/** The bytes of the file at `path`; undefined if nothing is there. Throws STORE_NOT_READABLE. */
export function sizeAt(path: string): number | undefined {
  const found = looking(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) requireMarkToRead(path);
  return found?.size;
}

/** `isThere` for code that can't wait (see `surely`). Throws STORE_NOT_READABLE. */
export function isSurelyThere(path: string): boolean {
  return surely(() => isThere(path));
}

/**
 * Repeats a look up to five times without a pause while the disk does not answer, for code that can't wait. Throws
 * what the last attempt throws.
 */
export function surely<Result>(look: () => Result): Result {
  for (let tries = 1; ; tries++) {
    try {
      return look();
    } catch (error) {
      if (!isStorageError(error) || tries === 5) throw error;
    }
  }
}
