import { readdirSync, readFileSync } from "node:fs";
import { sendSignal } from "../../src/base/processes/send-signal.ts";

/** The command lines of this machine's processes that hold these words, by process id. Linux. */
export function processesWith(words: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const command = commandOf(pid);
    if (command.includes(words)) found.set(Number(pid), command);
  }
  return found;
}

/** Ends processes, some of which may have ended since. */
export function killAll(pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // it has ended since
  }
}

/** The ids of this machine's processes in whose environment a variable has a value. Linux. */
export function processesMarked(variable: string, value: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).includes(`${variable}=${value}`)).map(Number);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // it has ended since
  }
}
