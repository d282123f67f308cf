/** How long a process may take to end in an orderly way, in ms. */
const usualGrace = 10_000;

/** Kills this process if it has not ended by itself after `grace` ms. The timer does not keep it alive. */
export function endAnyway(grace = usualGrace): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), grace).unref();
}
