import { CancellationScope, condition, isCancellation, sleep } from "@temporalio/workflow";

/** How time limits were kept until 0.3: by the clock, without what a person held a trajectory for. */
export interface TurnClock {
  /** Milliseconds that count, so far. */
  elapsed(): number;
  /** Milliseconds that don't count, so far. */
  heldMs(): number;
  /** Does what a person takes their time for. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Cancels `work` when it has taken `limit` ms, and is "time-limit" then; without a limit there is no timer. */
  within<T>(limit: number | undefined, work: () => Promise<T>): Promise<T | "time-limit">;
}

/** The clock of a trajectory that began at `startedAt` and has been held for `heldMs` before. */
export function turnClock({ startedAt, heldMs = 0 }: { startedAt: number; heldMs?: number }): TurnClock {
  let held = heldMs;
  let holds = 0;
  let since = 0;

  const heldNow = () => held + (holds > 0 ? Date.now() - since : 0);
  const counted = () => Date.now() - heldNow();

  async function hold<T>(work: () => Promise<T>): Promise<T> {
    if (holds++ === 0) since = Date.now();
    try {
      return await work();
    } finally {
      if (--holds === 0) held += Date.now() - since;
    }
  }

  async function expire(limit: number): Promise<void> {
    const end = counted() + limit;
    while (counted() < end) {
      await sleep(end - counted());
      await condition(() => holds === 0);
    }
  }

  async function within<T>(limit: number | undefined, work: () => Promise<T>): Promise<T | "time-limit"> {
    if (limit === undefined) return work();
    let isOver = limit <= 0;
    if (isOver) return "time-limit";
    const working = new CancellationScope();
    const timing = new CancellationScope();
    const expiry = timing.run(async () => {
      await expire(limit);
      isOver = true;
      working.cancel();
    });
    try {
      return await working.run(work);
    } catch (error) {
      if (isOver) return "time-limit";
      throw error;
    } finally {
      timing.cancel();
      await expiry.catch((error) => {
        if (!isCancellation(error)) throw error;
      });
    }
  }

  return { elapsed: () => counted() - startedAt, heldMs: heldNow, hold, within };
}
