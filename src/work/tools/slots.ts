import { waitingLine } from "./waiting-line.ts";

/** A limit on concurrent work. Other callers wait in line. */
export interface Slots {
  /**
   * Waits for a slot, first come, first served. Returns a function that gives it back. Throws the signal's
   * reason.
   */
  take(signal: AbortSignal): Promise<() => void>;
  isFull(): boolean;
}

/** Creates `limit` slots. */
export function createSlots(limit: number): Slots {
  let free = limit;
  const line = waitingLine();

  function giveBack(): void {
    if (!line.letIn()) free++;
  }

  return {
    isFull: () => free === 0,
    take: async (signal) => {
      signal.throwIfAborted();
      if (free > 0) free--;
      else await line.wait(signal);
      return giveBack;
    },
  };
}
