import { setTimeout as sleep } from "node:timers/promises";
import { anyOf } from "../../base/async/abort-signals.ts";
import { type Ending, endingFrom } from "../../base/processes/process-ending.ts";

/** One of Everturn's running processes. */
export interface Part {
  /** Resolves when it ends, requested or not. */
  ended: Promise<Ending>;
  stop(): Promise<void>;
}

/** A process that restarts whenever it ends by itself. */
export interface Supervised {
  isUp(): boolean;
  /** Rejects when it was given up; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** The number of consecutive ends, without progress of the run in between, after which a process is given up. */
const limit = 5;

/** Ms before a process restarts after its n-th end without progress. */
export function pauseAfter(times: number): number {
  return Math.min(5000, 200 * 4 ** (times - 1));
}

/**
 * Starts a process and restarts it when it ends by itself. `progress` counts the run's finished work. After five
 * ends without progress in between, `failed` rejects with the error of `giveUp`. Throws the error of the first
 * `start`, unless somebody killed the process meanwhile. `start` receives a signal that tells it to give up.
 */
export async function supervise(options: {
  start: (stopping: AbortSignal) => Promise<Part>;
  progress: () => number;
  onEnd: (ending: Ending, times: number) => void;
  giveUp: (ending: Ending, times: number) => Error;
  /** Once it aborts, processes end together: they don't restart, and their ends are not reported. */
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
      await sleep(pauseAfter(times), undefined, { signal: stopping }).catch(() => {}); // ended by the signal
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
  failed.catch(() => {}); // those who wait for it see it
  return {
    isUp: () => part !== undefined,
    failed,
    stop: async () => {
      controller.abort();
      await part?.stop();
      await keeping.catch(() => {}); // if it was given up, `failed` reports it
    },
  };
}
