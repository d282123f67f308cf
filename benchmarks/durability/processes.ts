import { readdirSync, readFileSync } from "node:fs";

/** CPU seconds (user and system) by process: the Temporal server, the workers of each role, their plugins, and this one. */
export type CpuSeconds = Record<string, number>;

/** Linux's clock ticks a second. */
const ticks = 100;

/** The CPU time that this process and its descendants have taken so far. Linux only. */
export function cpuSeconds(): CpuSeconds {
  const used: CpuSeconds = { client: statOf(process.pid).seconds };
  for (const [pid, { seconds }] of descendants()) {
    const name = nameOf(pid);
    used[name] = (used[name] ?? 0) + seconds;
  }
  return used;
}

/** The running processes that this one started, directly or not. */
function descendants(): Map<number, Stat> {
  const running = new Map<number, Stat>();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      running.set(Number(entry), statOf(Number(entry)));
    } catch {
      // it has ended
    }
  }
  const isOwn = (pid: number): boolean => {
    const parent = running.get(pid)?.parent;
    return parent !== undefined && (parent === process.pid || isOwn(parent));
  };
  return new Map([...running].filter(([pid]) => isOwn(pid)));
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

interface Stat {
  parent: number;
  seconds: number;
}

function statOf(pid: number): Stat {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field on
  return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks };
}

function nameOf(pid: number): string {
  const command = commandOf(pid);
  if (command.includes("start-dev")) return "server";
  if (command.some((part) => part.endsWith("host-main.ts"))) return "plugins";
  if (command.some((part) => part.endsWith("bare-worker.ts"))) return "bare";
  const role = command[command.indexOf("--role") + 1];
  return role === "orchestration" ? "rollout" : (role ?? "other");
}

/** The arguments of a process; none if it has ended. */
function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
