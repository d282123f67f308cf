import { existsSync, readdirSync, readFileSync } from "node:fs";
import { sendSignal } from "./send-signal.ts";

/** The environment variable that marks the processes of a tool's instance with their lease. */
export const markVariable = "EVERTURN_LEASE";

/**
 * Kills this machine's processes whose environment has `variable` set to `mark`: those that a worker started and did
 * not record before it died. It reads Linux's /proc. Elsewhere it kills nothing, because a process can't read
 * another one's environment.
 */
export function killMarked(variable: string, mark: string): void {
  if (!existsSync("/proc")) return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (environmentOf(pid).includes(`${variable}=${mark}`)) sendSignal(Number(pid), "SIGKILL");
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // it has ended, or is another user's
  }
}
