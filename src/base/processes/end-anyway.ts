/** Milliseconds in which a process that is to end may do so in order. */
const grace = 10_000;

/** Ends this process by force if it has not ended in order after ten seconds; holds it up no longer than it lives. */
export function endAnyway(): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), grace).unref();
}
