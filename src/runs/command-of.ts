import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** The command line of a process; "" if there is none. Process ids are used again, so a pid alone says little. */
export function commandOf(pid: number): string {
  if (existsSync("/proc/self/cmdline")) return linuxCommandOf(pid);
  const { status, stdout } = spawnSync("ps", ["-ww", "-o", "stat=,command=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const isZombie = stdout?.trimStart().startsWith("Z") ?? true;
  return status === 0 && !isZombie ? stdout : "";
}

/** Containers often have no `ps`. A zombie has no command line. */
function linuxCommandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // there is no such process
  }
}
