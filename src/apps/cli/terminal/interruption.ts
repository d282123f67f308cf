/** An interruption by Ctrl-C, by SIGTERM, or by SIGHUP from a closed terminal. */
export interface Interruption {
  /** Aborts at the first signal. */
  signal: AbortSignal;
  /** The exit code that shells expect from a process ended by the signal; 0 before a signal came. */
  code(): number;
  /** Restores the usual meaning of the signals. */
  release(): void;
}

const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const names = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * Ms within which several signals count as one: a terminal signals the whole process group, and npm signals it
 * again.
 */
const together = 1000;

/**
 * Waits for a signal to end. A second signal, at least a second after the first, calls `farewell` and ends the
 * process at once.
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
