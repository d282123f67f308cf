/** Callers that wait for something, first come, first served. */
export interface WaitingLine {
  readonly length: number;
  /** Waits for its turn. If the signal aborts, leaves the line and throws the signal's reason. */
  wait(signal: AbortSignal): Promise<void>;
  /** Lets the first caller in. Returns whether there was one. */
  letIn(): boolean;
}

/** Creates an empty line. */
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
