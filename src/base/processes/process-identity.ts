import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Identifies a process, as opposed to a later one with the same id or one on another machine. */
export type ProcessIdentity = {
  pid: number;
  /** When it started, in the operating system's own format. */
  started: string;
  machine: string;
};

/**
 * This boot of this machine and its process namespace. Two containers on one host count as two machines, because
 * neither sees the other's processes. If the system does not identify boots, the host's name.
 */
export const machine: string = [bootId() ?? hostname(), processSpace()].filter(Boolean).join("/");

/** The identity of a process that runs on this machine; undefined if it does not exist or is a zombie. */
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

/** Whether it still runs, stopped or not; undefined if this machine can't know, because it is on another one. */
export function isRunning(process: ProcessIdentity): boolean | undefined {
  const state = stateOf(process);
  return state === undefined ? undefined : state !== "gone";
}

/**
 * Whether a process works, however slowly, is stopped by a signal or a debugger until someone continues it, or is
 * gone. Undefined if this machine can't know, because it is on another one.
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

/**
 * A process's status from the system. Its state begins with one of `ps`'s letters. Undefined if it does not exist.
 */
function statusOf(pid: number): { state: string; started: string } | undefined {
  const status = existsSync("/proc/self/stat") ? statusInProc(pid) : statusByPs(pid);
  return status === undefined || /^[ZX]/.test(status.state) ? undefined : status;
}

function statusInProc(pid: number): { state: string; started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // fields from the third one, the state
    const [state = ""] = fields;
    // If the first thread has ended and others have not yet, the process still holds its open files and locks.
    const isEnding = state === "Z" && readdirSync(`/proc/${pid}/task`).length > 1;
    return { state: isEnding ? "R" : state, started: fields[19] ?? "" };
  } catch {
    return undefined; // the process does not exist
  }
}

function statusByPs(pid: number): { state: string; started: string } | undefined {
  const { status, stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const [, state, started] = /^(\S+)\s+(.*)$/.exec(stdout?.trim() ?? "") ?? [];
  return status !== 0 || state === undefined || started === undefined ? undefined : { state, started };
}
