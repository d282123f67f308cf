import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { StorageNotice } from "../../base/files/patiently.ts";
import type { Notice } from "../../base/processes/notice.ts";

/** Watches the waiting writes and reads of a run's workers. */
export interface StorageTrouble {
  /** Receives a worker's notice. Notices about anything but storage are ignored. */
  hear(notice: Notice | StorageNotice): void;
  /** Rejects with STORAGE_STALLED when something could not be written or read for too long; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** How long a run waits for storage before it stops, in ms. */
const patience = 5 * 60_000;

/**
 * Lets a run wait while its workers can't write or read (a full disk, a read-only store, a missing file system), and
 * finally stops it.
 */
export function storageTrouble(run: string): StorageTrouble {
  let timer: NodeJS.Timeout | undefined;
  let newest = "";
  let reject = (_: Error) => {};
  const failed = new Promise<never>((_, giveUp) => {
    reject = giveUp;
  });
  failed.catch(() => {}); // those who wait for it see it
  const calm = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    hear: (said) => {
      if (!("over" in said)) return;
      if (said.over) return calm();
      newest = said.notice;
      timer ??= setTimeout(() => {
        const minutes = patience / 60_000;
        reject(new EverturnError("STORAGE_STALLED", { run, minutes, reason: newest }));
      }, patience);
    },
    failed,
    stop: async () => calm(),
  };
}
