import { readdirSync } from "node:fs";
import { kernelText } from "./kernel-text.ts";

/** Ms between two reads. The kernel itself records each process's peak. */
const interval = 250;

/**
 * Watches the peak memory of this process's children and their descendants. `stop` returns each one's bytes and
 * command line. It works on Linux only; elsewhere the list is empty.
 */
export function watchPeakMemory(): { stop(): { command: string; bytes: number }[] } {
  const peaks = new Map<number, { command: string; bytes: number }>();
  const look = () => {
    for (const pid of descendants(process.pid)) {
      const bytes = peakOf(pid);
      if (bytes === undefined) continue;
      const command = peaks.get(pid)?.command ?? commandOf(pid);
      peaks.set(pid, { command, bytes });
    }
  };
  const timer = setInterval(look, interval);
  return {
    stop: () => {
      clearInterval(timer);
      return [...peaks.values()];
    },
  };
}

function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of namesIn("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(/^PPid:\s*(\d+)$/m.exec(kernelText(`/proc/${pid}/status`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: number[] = [];
  for (let next = children.get(root) ?? []; next.length > 0; ) {
    found.push(...next);
    next = next.flatMap((pid) => children.get(pid) ?? []);
  }
  return found;
}

function peakOf(pid: number): number | undefined {
  const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/m.exec(kernelText(`/proc/${pid}/status`)) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function commandOf(pid: number): string {
  return kernelText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not Linux
  }
}
