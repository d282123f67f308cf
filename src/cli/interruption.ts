/** Ctrl-C or SIGTERM. */
export interface Interruption {
  /** Resolves at the first signal. A second one has its usual meaning: it ends the process at once. */
  promise: Promise<"interrupted">;
  happened(): boolean;
  /** Gives the signals their usual meaning back. */
  release(): void;
}

/** Waits for Ctrl-C or SIGTERM. */
export function interruption(): Interruption {
  let happened = false;
  let release = () => {};
  const promise = new Promise<"interrupted">((resolve) => {
    const onSignal = () => {
      happened = true;
      release();
      resolve("interrupted");
    };
    release = () => {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
  return { promise, happened: () => happened, release };
}
