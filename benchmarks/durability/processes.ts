import { readdirSync, readFileSync } from "node:fs";

/** CPU seconds (user and system) by process: the Temporal server, the workers of each role, and this one. */
export type CpuSeconds = Record<string, number>;

/** Linux's clock ticks a second. */
const ticks = 100;

/** The CPU time that this process and its children have taken so far. Linux only. */
export function cpuSeconds(): CpuSeconds {
  const used: CpuSeconds = { client: statOf(process.pid).seconds };
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const { parent, seconds } = statOf(Number(entry));
      if (parent !== process.pid) continue;
      const name = nameOf(Number(entry));
      used[name] = (used[name] ?? 0) + seconds;
    } catch {
      // it has ended
    }
  }
  return used;
}

/** What was used between two readings. */
export function cpuBetween(before: CpuSeconds, after: CpuSeconds): CpuSeconds {
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]),
  );
}

/** Largest resident memory so far, in MiB, by process, this one included. */
export function peakMemory(): Record<string, number> {
  const peaks: Record<string, number> = { client: peakOf("self") };
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (statOf(Number(entry)).parent !== process.pid) continue;
      peaks[nameOf(Number(entry))] = peakOf(entry);
    } catch {
      // it has ended
    }
  }
  return peaks;
}

function peakOf(entry: string): number {
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${entry}/status`, "utf8"))?.[1];
  return Number(peak) / 1024;
}

function statOf(pid: number): { parent: number; seconds: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field on
  return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks };
}

function nameOf(pid: number): string {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  if (command.includes("start-dev")) return "server";
  if (command.some((part) => part.endsWith("bare-worker.ts"))) return "bare";
  const role = command[command.indexOf("--role") + 1];
  return role === "orchestration" ? "rollout" : (role ?? "other");
}
