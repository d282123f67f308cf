import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { StorageNotice } from "../../base/files/patiently.ts";
import type { Notice } from "../../base/processes/notice.ts";

/** Watches over writes and reads that wait in the workers of a session. */
export interface StorageTrouble {
  /** Takes what a worker says; of other things than a write it takes no notice. */
  hear(notice: Notice | StorageNotice): void;
  /** Rejects with STORAGE_STALLED when something could not be written or read for too long; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** How long a run waits for room before it stops, ms. */
const patience = 5 * 60_000;

/** Lets a run wait while its workers can't write or read (the disk is full, the store read-only, its file system gone), and stops it in the end. */
export function storageTrouble(run: string): StorageTrouble {
  let timer: NodeJS.Timeout | undefined;
  let newest = "";
  let reject = (_: Error) => {};
  const failed = new Promise<never>((_, giveUp) => {
    reject = giveUp;
  });
  failed.catch(() => {}); // told by whoever waits for it
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
