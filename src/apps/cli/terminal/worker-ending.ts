import { untilAborted } from "../../../base/async/abort-signals.ts";
import { endAnyway } from "../../../base/processes/end-anyway.ts";
import { isSupervised } from "../../../control/supervision/worker-process.ts";
import { interruption } from "./interruption.ts";

/** The end of a worker. */
export interface WorkerEnding {
  /**
   * Resolves when the worker should end: its command requested it or died, or, for a worker started by hand, at Ctrl-C,
   * SIGTERM or SIGHUP.
   */
  promise: Promise<void>;
  /** Notes that it works, and from now on ends in an orderly way. */
  isReady(): void;
}

/** How much longer than its running work a worker may take to end, in ms. */
const closing = 8000;

/**
 * Waits for a worker's end at any time. `grace` is how long its running work may take to finish, in ms. A worker that
 * is still starting holds nothing and ends at once, even if its command died before it looked. One that can't end in
 * an orderly way, because its server is gone, is killed. A command's worker ignores Ctrl-C, which a terminal sends to
 * every process of the group, and leaves it to its command.
 */
export function workerEnding(grace: number): WorkerEnding {
  let isReady = false;
  const promise = isSupervised() ? untilDisconnected() : untilAborted(interruption().signal);
  void promise.then(() => {
    if (!isReady) process.exit();
    endAnyway(grace + closing);
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
