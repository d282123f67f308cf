import { waitingLine } from "./waiting-line.ts";

/** A limit on how many work at once; the others wait in line. */
export interface Slots {
  /** Waits for a slot; first come, first served. Returns how to give it back. Throws the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
  isFull(): boolean;
}

/** `limit` slots. */
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
