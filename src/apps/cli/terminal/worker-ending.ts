import { untilAborted } from "../../../base/async/abort-signals.ts";
import { endAnyway } from "../../../base/processes/end-anyway.ts";
import { interruption } from "./interruption.ts";

/** When a worker should end. */
export interface WorkerEnding {
  /** Resolves when it should: its command told it so or has died; by hand, at Ctrl-C, SIGTERM or SIGHUP. */
  promise: Promise<void>;
  /** It works, and from now on ends in order. */
  isReady(): void;
}

/**
 * Waits for a worker's end, at whatever moment that comes: a worker that is still starting holds nothing and ends at
 * once, also if its command died before it looked; one that can't end in order, since its server is gone, is killed. A
 * command's worker leaves Ctrl-C, which a terminal tells every process of the group, to its command.
 */
export function workerEnding(): WorkerEnding {
  const isSupervised = process.send !== undefined;
  let isReady = false;
  const promise = isSupervised ? untilDisconnected() : untilAborted(interruption().signal);
  void promise.then(() => {
    if (!isReady) process.exit();
    endAnyway();
  });
  return {
    promise,
    isReady: () => {
      isReady = true;
    },
  };
}

function untilDisconnected(): Promise<void> {
  for (const name of ["SIGINT", "SIGHUP"]) process.on(name, () => {});
  return new Promise((resolve) => {
    process.once("disconnect", resolve);
    process.once("SIGTERM", () => resolve());
    if (!process.connected) resolve();
  });
}
