import { existsSync, readdirSync, readFileSync } from "node:fs";

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

/** The sandboxes (bubblewrap) that these processes hold: they carry no mark, since they know nothing of what is around them. */
export function sandboxesOf(holders: readonly MarkedProcess[]): MarkedProcess[] {
  const pids = new Set(holders.map(({ pid }) => pid));
  return [...pids].flatMap((holder) =>
    childrenOf(holder).flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
      return /^(\S*\/)?bwrap /.test(command) && !pids.has(pid) ? [{ pid, command: "bwrap" }] : [];
    }),
  );
}

/** The processes that a process has started and that still run, or that nobody has waited for. */
export function childrenOf(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).trim().split(" "),
  );
  return children.filter((child) => child !== "").map(Number);
}

/** When a process began, as the kernel counts: with its id it names the process for good. Undefined if there is none. */
export function startOf(pid: number): string | undefined {
  const status = read(`/proc/${pid}/stat`);
  return status === "" ? undefined : status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
}

/** A file of /proc; "" if the process has ended or is another user's. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
