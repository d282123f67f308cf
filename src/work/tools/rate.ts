import { waitingLine } from "./waiting-line.ts";

/** A limit on how often work may begin. Other callers wait in line. */
export interface Rate {
  /** Waits for its turn, first come, first served. Throws the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  /** Whether the next caller has to wait. */
  isReached(): boolean;
}

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Creates the rate in `text`, such as 10/s or 60/m. Work begins at even intervals, so no span of time exceeds
 * the rate.
 */
export function createRate(text: string): Rate {
  const [, count = "", unit = ""] = /^([0-9.]+)\/([smh])$/.exec(text) ?? [];
  const interval = (units[unit] ?? Number.NaN) / Number(count);
  const line = waitingLine();
  let next = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function letIn(): void {
    timer = undefined;
    if (line.length === 0) return;
    const now = performance.now();
    if (now >= next) {
      next = now + interval;
      line.letIn();
    }
    if (line.length > 0) timer = setTimeout(letIn, Math.max(1, next - now)).unref(); // waiting callers keep the worker alive
  }

  return {
    isReached: () => line.length > 0 || performance.now() < next,
    take: async (signal) => {
      signal.throwIfAborted();
      const turn = line.wait(signal);
      if (timer === undefined) letIn();
      await turn;
    },
  };
}
