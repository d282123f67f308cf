import { setTimeout as sleep } from "node:timers/promises";
import { type Notice, tellNotice } from "../processes/notice.ts";
import { isStorageError } from "./storage-errors.ts";

/** What a process says of a write that waits; a worker's session hears it. */
export interface StorageNotice extends Notice {
  /** It was written in the end. */
  over: boolean;
}

const shortestPause = 250;
const longestPause = 5000;
/** Between two notices of one write for the same reason, ms. */
const noticeInterval = 60_000;
/** How long a write waits before its activity fails, to be tried again, ms. */
const patience = 10 * 60_000;

/**
 * Writes; while the disk is full or the store can't be written, waits and tries again for up to ten minutes, so that
 * what was generated, called or trained is not thrown away for want of room. Says so on standard error, and to the
 * session that started this process. Throws DISK_FULL, STORE_NOT_WRITABLE.
 */
export async function patiently<Result>(write: () => Promise<Result>): Promise<Result> {
  const started = Date.now();
  let told = { at: Number.NEGATIVE_INFINITY, code: "" };
  const tell = (notice: StorageNotice) => tellNotice(notice);
  let last: { code: string; message: string } | undefined;
  for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      const result = await write();
      if (last !== undefined) tell({ notice: "written after all", code: last.code, over: true });
      return result;
    } catch (error) {
      if (!isStorageError(error) || Date.now() - started > patience) throw error;
      last = error;
      if (error.code !== told.code || Date.now() - told.at >= noticeInterval) {
        tell({ notice: error.message, code: error.code, over: false });
        told = { at: Date.now(), code: error.code };
      }
      await sleep(pause);
    }
  }
}
