import { statSync } from "node:fs";
import { requireMarkToRead } from "./marked-folder.ts";
import { isStorageError, looking } from "./storage-errors.ts";

/**
 * Whether something is at `path`, links followed. Unlike `existsSync`, which says no whatever goes wrong, this answers only
 * when the disk does. Throws STORE_NOT_READABLE.
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

/** The same where nobody can wait (`surely`). Throws STORE_NOT_READABLE. */
export function isSurelyThere(path: string): boolean {
  return surely(() => isThere(path));
}

/** A look where nobody can wait: a disk that does not answer is asked five times at once. Throws what the last look throws. */
export function surely<Result>(look: () => Result): Result {
  for (let tries = 1; ; tries++) {
    try {
      return look();
    } catch (error) {
      if (!isStorageError(error) || tries === 5) throw error;
    }
  }
}
