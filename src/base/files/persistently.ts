import { setTimeout as sleep } from "node:timers/promises";
import { isStorageError, readingErrorWithin } from "./storage-errors.ts";

const shortestPause = 10;
const longestPause = 640;

/**
 * Does a small piece of work on files, such as reading or writing one of them, and again where the disk failed it: up to eight times in
 * 1.3 s. So work on many files does not start over for each call that fails. The work must be repeatable. Throws what its last try
 * throws, as it is: whoever waits longer (`patiently`) takes it from there. A full disk is not tried again here.
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
