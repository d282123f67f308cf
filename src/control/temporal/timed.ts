import { EverturnError } from "../../base/errors/everturn-error.ts";

/**
 * Ms between two readings of the clock, and the most that one interval counts: a longer gap means a stopped process.
 */
const interval = 1000;
const longestGap = 5000;

interface Options {
  /** The name of the work, for the error. */
  what: string;
  signal: AbortSignal;
  /** How long it may work, in ms; absent: no limit. */
  limit?: number | undefined;
}

/** The result of work, and the seconds that it took. */
export interface Timed<Result> {
  result: Result;
  seconds: number;
}

/**
 * Runs `work`, and measures its seconds while this process ran. `begin` marks the time before it as waiting. After
 * `limit` its signal aborts and nobody waits for it any longer. Throws TIME_LIMIT_REACHED, the signal's reason, or
 * the work's error.
 */
export async function timed<Result>(
  work: (signal: AbortSignal, begin: () => void) => Promise<Result>,
  { what, signal, limit = Number.POSITIVE_INFINITY }: Options,
): Promise<Timed<Result>> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  aborted.catch(() => {}); // the race throws it if it still runs
  let worked = 0;
  let looked = performance.now();
  let timer: NodeJS.Timeout | undefined;

  function count(): number {
    const now = performance.now();
    worked += Math.min(now - looked, longestGap);
    looked = now;
    return worked;
  }

  function look(): void {
    const left = limit - count();
    if (left <= 0) {
      controller.abort(new EverturnError("TIME_LIMIT_REACHED", { what, seconds: limit / 1000 }));
    } else timer = setTimeout(look, Math.min(left, interval));
  }

  function begin(): void {
    clearTimeout(timer);
    worked = 0;
    looked = performance.now();
    look();
  }

  const pass = () => controller.abort(signal.reason);
  signal.addEventListener("abort", pass);
  begin();
  try {
    const result = await Promise.race([aborted, work(controller.signal, begin)]);
    return { result, seconds: count() / 1000 };
  } catch (error) {
    controller.signal.throwIfAborted(); // its error may be its reaction to the signal
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", pass);
  }
}
