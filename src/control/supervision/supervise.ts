import { setTimeout as sleep } from "node:timers/promises";
import { anyOf } from "../../base/async/abort-signals.ts";
import { type Ending, endingFrom } from "../../base/processes/process-ending.ts";

/** A process of ours that works. */
export interface Part {
  /** Resolves when it ends, told to or not. */
  ended: Promise<Ending>;
  stop(): Promise<void>;
}

/** A process that is started again whenever it ends by itself. */
export interface Supervised {
  isUp(): boolean;
  /** Rejects when it was given up; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** So many ends in a row, with no progress of the run between them, and it is given up. */
const limit = 5;

/** Milliseconds before a process is started again after its first, second … end without progress. */
export function pauseAfter(times: number): number {
  return Math.min(5000, 200 * 4 ** (times - 1));
}

/**
 * Starts a process, and starts it again when it ends by itself. `progress` counts what the run gets done: five ends
 * without any of it between them, and `giveUp` makes the error that `failed` rejects with. Throws what the first
 * `start` throws, unless somebody killed the process meanwhile. `start` is told by its signal to give up.
 */
export async function supervise(options: {
  start: (stopping: AbortSignal) => Promise<Part>;
  progress: () => number;
  onEnd: (ending: Ending, times: number) => void;
  giveUp: (ending: Ending, times: number) => Error;
  /** What ends from now on ends with all the others: it is not started again, and nobody is told. */
  stopping?: AbortSignal | undefined;
}): Promise<Supervised> {
  const { start, progress, onEnd, giveUp } = options;
  const controller = new AbortController();
  const stopping = anyOf(controller.signal, options.stopping);
  let part: Part | undefined = await firstStart();

  async function firstStart(): Promise<Part> {
    for (let times = 1; ; times++) {
      try {
        return await start(stopping);
      } catch (error) {
        const ending = endingFrom(error);
        if (stopping.aborted || ending.reason !== "SIGKILL" || times === limit) throw error;
        onEnd(ending, times);
      }
    }
  }

  async function keep(first: Part): Promise<void> {
    let reached = progress();
    let times = 0;
    let ending = await first.ended;
    for (;;) {
      part = undefined;
      if (stopping.aborted) return;
      times = progress() > reached ? 1 : times + 1;
      reached = progress();
      if (times === limit) throw giveUp(ending, times);
      onEnd(ending, times);
      await sleep(pauseAfter(times), undefined, { signal: stopping }).catch(() => {}); // it was told to stop
      if (stopping.aborted) return;
      try {
        part = await start(stopping);
        if (stopping.aborted) return await part.stop();
        ending = await part.ended;
      } catch (error) {
        ending = endingFrom(error);
      }
    }
  }

  const keeping = keep(part);
  const failed = keeping.then(() => new Promise<never>(() => {}));
  failed.catch(() => {}); // told by whoever waits for it
  return {
    isUp: () => part !== undefined,
    failed,
    stop: async () => {
      controller.abort();
      await part?.stop();
      await keeping.catch(() => {}); // it was given up: `failed` says so
    },
  };
}
