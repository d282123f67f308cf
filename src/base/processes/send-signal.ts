import { isSystemError } from "../errors/system-error.ts";

/** Sends a signal to a process, or to the process group `-pid`. Does nothing if it has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isSystemError(error, "ESRCH")) throw error;
  }
}
