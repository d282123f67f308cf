import { readdirSync, readFileSync } from "node:fs";

/** The environment variable by which every process of a chaos run is found, whoever started it. */
export const markName = "EVERTURN_CHAOS";

/** A process that carries the mark. */
export interface MarkedProcess {
  pid: number;
  command: string;
}

/** All processes whose environment carries `mark`, from Linux's /proc; zombies, which hold nothing, are left out. */
export function markedProcesses(mark: string): MarkedProcess[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const environment = read(`/proc/${pid}/environ`).split("\0");
    if (!environment.includes(`${markName}=${mark}`)) return [];
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    return command === "" ? [] : [{ pid: Number(pid), command }];
  });
}

/** A file of /proc; "" if the process has ended or is another user's. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
