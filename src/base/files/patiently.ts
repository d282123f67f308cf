import { setTimeout as sleep } from "node:timers/promises";
import { type Notice, tellNotice } from "../processes/notice.ts";
import { heedsMarks } from "./marked-folder.ts";
import { isStorageError } from "./storage-errors.ts";

/** Reports that a process is waiting to write or read. The worker's session receives it. */
export interface StorageNotice extends Notice {
  /** Whether the operation has succeeded in the end. */
  over: boolean;
}

/** For how many ms an operation that failed with this code is retried. */
export type Patience = (error: { code: string }) => number;

const shortestPause = 10;
const longestPause = 5000;
/** A wait shorter than this is not worth a notice, in ms. */
const noticedPause = 160;
/** Ms between two notices about one operation for the same reason. */
const noticeInterval = 60_000;
/**
 * How long a write waits before its activity fails and is retried, and how long a read waits in a process that works
 * on a run, in ms.
 */
const longPatience = 10 * 60_000;
/** How long a read waits in a process that only looks at runs, in ms. */
const readersPatience = 5000;

/**
 * Does work that depends on the disk. While the disk is full or does not answer, it retries for up to ten minutes. A
 * full disk therefore does not throw away work that was generated, called or trained, and a file that can't be read
 * for now does not count as absent. In a process that does not work on a run, a read is retried for five seconds.
 * `patience` replaces these times. It reports the wait on standard error and to the session that started this
 * process. Throws DISK_FULL, STORE_NOT_WRITABLE and STORE_NOT_READABLE.
 */
export async function patiently<Result>(
  work: () => Promise<Result>,
  patience: Patience = usualPatience,
): Promise<Result> {
  const started = Date.now();
  let told: { at: number; code: string } | undefined;
  const tell = (notice: StorageNotice) => tellNotice(notice);
  for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      const result = await work();
      if (told !== undefined) tell({ notice: "the storage answers again", code: told.code, over: true });
      return result;
    } catch (error) {
      if (!isStorageError(error) || Date.now() - started >= patience(error)) throw error;
      const isNews = error.code !== told?.code || Date.now() - told.at >= noticeInterval;
      if (isNews && pause >= noticedPause) {
        tell({ notice: error.message, code: error.code, over: false });
        told = { at: Date.now(), code: error.code };
      }
      await sleep(pause);
    }
  }
}

function usualPatience({ code }: { code: string }): number {
  return code === "STORE_NOT_READABLE" ? readingPatience() : longPatience;
}

/** How long to retry a read, whichever error a store's backend reports. */
export function readingPatience(): number {
  return heedsMarks() ? longPatience : readersPatience;
}

/**
 * The patience of work that a person waits for: a full disk fails at once, and other failures are retried for a
 * second.
 */
export function littlePatience({ code }: { code: string }): number {
  return code === "DISK_FULL" ? 0 : 1000;
}
