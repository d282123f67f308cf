import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { JsonValue } from "../contracts/json.ts";
import { isSystemError } from "../runs/files.ts";

/** A process, told apart from a later one that got the same id, and from one of another machine. */
export type ProcessIdentity = {
  pid: number;
  /** When it started, in words of its operating system. */
  started: string;
  machine: string;
};

/** This boot of this machine, and the space in which its process ids count. */
export const machine = existsSync("/proc/self/ns/pid")
  ? `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${readlinkSync("/proc/self/ns/pid")}`
  : hostname();

/** The identity of a process that runs on this machine; undefined if there is none, or only its remains. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const started = startOf(pid);
  return started === undefined ? undefined : { pid, started, machine };
}

/** Whether it still runs; undefined if it can't be known here, since it is another machine's. */
export function isRunning(process: ProcessIdentity): boolean | undefined {
  return process.machine === machine ? startOf(process.pid) === process.started : undefined;
}

/** What `killProcess` needs of a process that this one has started: for a tool's `hold`. */
export function processHandle(pid: number | undefined): JsonValue {
  const identity = pid === undefined ? undefined : processIdentity(pid);
  return identity ?? null;
}

/**
 * Kills a process by its handle and, if it leads a process group (spawned `detached`), what is left of the group. Does nothing if it
 * has ended, if its id belongs to another process by now, or if it is another machine's.
 */
export function killProcess(handle: JsonValue): void {
  const target = identityIn(handle);
  if (target?.machine !== machine) return;
  const started = startOf(target.pid);
  // An id is not given away while a group is named by it: without a process of that id, the group is still its own.
  if (started !== undefined && started !== target.started) return;
  for (const pid of [-target.pid, target.pid]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!isSystemError(error, "ESRCH")) throw error;
    }
  }
}

function identityIn(handle: JsonValue): ProcessIdentity | undefined {
  if (typeof handle !== "object" || handle === null || Array.isArray(handle)) return undefined;
  const { pid, started, machine: where } = handle;
  const isIdentity = typeof pid === "number" && typeof started === "string" && typeof where === "string";
  return isIdentity ? { pid, started, machine: where } : undefined;
}

function startOf(pid: number): string | undefined {
  if (!existsSync("/proc/self/stat")) return startByPs(pid);
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // from the third field, the state, on
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined; // there is no such process
  }
}

function startByPs(pid: number): string | undefined {
  const { status, stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const text = stdout?.trim() ?? "";
  return status !== 0 || text.startsWith("Z") ? undefined : text.replace(/^\S+\s+/, "");
}
