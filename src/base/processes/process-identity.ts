import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, told apart from a later one that got the same id, and from one of another machine. */
export type ProcessIdentity = {
  pid: number;
  /** When it started, in words of its operating system. */
  started: string;
  machine: string;
};

/**
 * This boot of this machine, and the space in which its process ids count: two containers of one host are two machines
 * here, since neither sees the other's processes. Where the system names no boots, the host's name.
 */
export const machine: string = [bootId() ?? hostname(), processSpace()].filter(Boolean).join("/");

/** The identity of a process that runs on this machine; undefined if there is none, or only its remains. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const status = statusOf(pid);
  return status === undefined ? undefined : { pid, started: status.started, machine };
}

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const identity = processIdentity(process.pid);
  if (identity === undefined) throw new Error("This process does not see itself among the running ones.");
  return identity;
}

/** Whether it still runs, stopped or not; undefined if it can't be known here, since it is another machine's. */
export function isRunning(process: ProcessIdentity): boolean | undefined {
  const state = stateOf(process);
  return state === undefined ? undefined : state !== "gone";
}

/**
 * Whether it works, however slowly, or was stopped by a signal or a debugger until somebody continues it, or is gone;
 * undefined if it can't be known here, since it is another machine's.
 */
export function stateOf(process: ProcessIdentity): "working" | "stopped" | "gone" | undefined {
  if (process.machine !== machine) return undefined;
  const status = statusOf(process.pid);
  if (status?.started !== process.started) return "gone";
  return /^t/i.test(status.state) ? "stopped" : "working";
}

function bootId(): string | undefined {
  const file = "/proc/sys/kernel/random/boot_id";
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  if (process.platform !== "darwin") return undefined;
  const { status, stdout } = spawnSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function processSpace(): string {
  const link = "/proc/self/ns/pid";
  return existsSync(link) ? readlinkSync(link) : "";
}

/** What the system says of a process: its state begins with a letter, as `ps` has them; undefined if there is none. */
function statusOf(pid: number): { state: string; started: string } | undefined {
  const status = existsSync("/proc/self/stat") ? statusInProc(pid) : statusByPs(pid);
  return status === undefined || /^[ZX]/.test(status.state) ? undefined : status;
}

function statusInProc(pid: number): { state: string; started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // from the third field, the state, on
    const [state = ""] = fields;
    // Where the first thread of a process has ended and others have not, its files are open still, and locks hold.
    const isEnding = state === "Z" && readdirSync(`/proc/${pid}/task`).length > 1;
    return { state: isEnding ? "R" : state, started: fields[19] ?? "" };
  } catch {
    return undefined; // there is no such process
  }
}

function statusByPs(pid: number): { state: string; started: string } | undefined {
  const { status, stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const [, state, started] = /^(\S+)\s+(.*)$/.exec(stdout?.trim() ?? "") ?? [];
  return status !== 0 || state === undefined || started === undefined ? undefined : { state, started };
}
