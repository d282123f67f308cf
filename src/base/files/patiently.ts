import { setTimeout as sleep } from "node:timers/promises";
import { type Notice, tellNotice } from "../processes/notice.ts";
import { heedsMarks } from "./marked-folder.ts";
import { isStorageError } from "./storage-errors.ts";

/** What a process says of a write or a read that waits; a worker's session hears it. */
export interface StorageNotice extends Notice {
  /** It was done in the end. */
  over: boolean;
}

/** For how many milliseconds what failed in a way is tried again. */
export type Patience = (error: { code: string }) => number;

const shortestPause = 10;
const longestPause = 5000;
/** What is over before a pause of this length is not worth a notice, ms. */
const noticedPause = 160;
/** Between two notices of one write or read for the same reason, ms. */
const noticeInterval = 60_000;
/** How long a write waits before its activity fails, to be tried again, and a read of a process that works on a run, ms. */
const longPatience = 10 * 60_000;
/** How long a read waits in a process that merely looks at runs, ms. */
const readersPatience = 5000;

/**
 * Does what the disk has to allow. While the disk is full, or does not answer, waits and tries again for up to ten minutes, so
 * that what was generated, called or trained is not thrown away for want of room, and nothing that can't be read for now is taken
 * for absent. A read of a process that does not work on a run is tried for five seconds. `patience` says for how many milliseconds else. Says so on standard error, and to the
 * session that started this process. Throws DISK_FULL, STORE_NOT_WRITABLE, STORE_NOT_READABLE.
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
      if (told !== undefined) tell({ notice: "the disk answers again", code: told.code, over: true });
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

/** The patience of a read, whatever a store's backend says of it. */
export function readingPatience(): number {
  return heedsMarks() ? longPatience : readersPatience;
}

/** The patience of what a person waits for: a full disk is told at once, and one that does not answer is tried for a second. */
export function littlePatience({ code }: { code: string }): number {
  return code === "DISK_FULL" ? 0 : 1000;
}
