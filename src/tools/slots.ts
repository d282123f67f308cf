/** A limit on how many work at once; the others wait in line. */
export interface Slots {
  /** Waits for a slot; first come, first served. Returns how to give it back. Throws the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
  isFull(): boolean;
}

/** `limit` slots. */
export function createSlots(limit: number): Slots {
  let free = limit;
  const line = new Set<() => void>();

  function giveBack(): void {
    const [next] = line;
    if (next === undefined) free++;
    else next();
  }

  return {
    isFull: () => free === 0,
    take: (signal) => {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return Promise.resolve(giveBack);
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          line.delete(enter);
          reject(signal.reason);
        };
        const enter = () => {
          line.delete(enter);
          signal.removeEventListener("abort", leave);
          resolve(giveBack);
        };
        line.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
