/** Who waits for something: first come, first served. */
export interface WaitingLine {
  readonly length: number;
  /** Waits to be let in. Throws the signal's reason, and leaves the line. */
  wait(signal: AbortSignal): Promise<void>;
  /** Lets the first one in; whether there was one. */
  letIn(): boolean;
}

/** An empty line. */
export function waitingLine(): WaitingLine {
  const line = new Set<() => void>();
  return {
    get length() {
      return line.size;
    },
    wait: (signal) =>
      new Promise((resolve, reject) => {
        const leave = () => {
          line.delete(enter);
          reject(signal.reason);
        };
        const enter = () => {
          line.delete(enter);
          signal.removeEventListener("abort", leave);
          resolve();
        };
        line.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      }),
    letIn: () => {
      const [first] = line;
      first?.();
      return first !== undefined;
    },
  };
}
