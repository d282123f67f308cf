import { readdirSync, readFileSync } from "node:fs";

/** Samples the memory of a process group (Linux only; elsewhere 0). */
export function groupMemory(group: number): { stop(): number } {
  let most = 0;
  const sample = () => {
    most = Math.max(most, bytesOf(group));
  };
  const timer = setInterval(sample, 3000);
  return {
    /** The most bytes that its processes had together; memory that several share counts once. */
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}

function bytesOf(group: number): number {
  if (process.platform !== "linux") return 0;
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.reduce((total, name) => total + bytesOfMember(name, group), 0);
}

function bytesOfMember(name: string, group: number): number {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, "utf8");
    // After the name in parentheses: state, parent, process group
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) !== group) return 0;
    const rollup = readFileSync(`/proc/${name}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0; // it has ended meanwhile
  }
}
