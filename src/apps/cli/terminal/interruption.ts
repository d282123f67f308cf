/** Ctrl-C, SIGTERM, or SIGHUP of a terminal that was closed. */
export interface Interruption {
  /** Aborts at the first signal. */
  signal: AbortSignal;
  /** The exit code that shells expect of a process that the signal ended; 0 before one came. */
  code(): number;
  /** Gives the signals their usual meaning back. */
  release(): void;
}

const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const names = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Milliseconds in which several signals are one: a terminal tells the whole process group, and npm tells it again. */
const together = 1000;

/**
 * Waits for a signal to end. A second one, at least a second after the first, ends the process at once, after
 * `farewell`.
 */
export function interruption(farewell: () => void = () => {}): Interruption {
  const controller = new AbortController();
  let code = 0;
  let toldAt = 0;
  const onSignal = (name: keyof typeof codes) => {
    if (!controller.signal.aborted) {
      code = codes[name];
      toldAt = performance.now();
      controller.abort();
    } else if (performance.now() - toldAt > together) {
      farewell();
      process.exit(code);
    }
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    code: () => code,
    release: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
