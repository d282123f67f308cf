import { setTimeout as sleep } from "node:timers/promises";
import { isStorageError, readingErrorWithin } from "./storage-errors.ts";

const shortestPause = 10;
const longestPause = 640;

/**
 * Does a small piece of work on files, such as reading or writing one, and retries it if the disk fails: up to eight
 * times in 1.3 s. Work on many files then does not start over after each failed call. The work must be repeatable.
 * Throws the last attempt's error unchanged, so that a caller can wait longer (`patiently`). It does not retry on a
 * full disk.
 */
export async function persistently<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  for (let pause = shortestPause; ; pause *= 2) {
    try {
      return await work();
    } catch (error) {
      const failure = readingErrorWithin(error, "");
      if (pause > longestPause || !isStorageError(failure) || failure.code === "DISK_FULL") throw error;
      await sleep(pause);
    }
  }
}
