/** Waits for Ctrl-C or SIGTERM. `release` gives the signals their usual meaning back. */
export function interruption(): { promise: Promise<"interrupted">; release(): void } {
  let release = () => {};
  const promise = new Promise<"interrupted">((resolve) => {
    const onSignal = () => resolve("interrupted");
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
    release = () => {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    };
  });
  return { promise, release };
}
