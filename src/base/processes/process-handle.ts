import type { JsonValue } from "../../contracts/json.ts";
import { isSystemError } from "../errors/system-error.ts";
import { isRunning, machine, type ProcessIdentity, processIdentity } from "./process-identity.ts";

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
  const target = handledProcess(handle);
  if (target?.machine !== machine) return;
  // An id is not given away while a group is named by it: without a process of that id, the group is still its own.
  if (processIdentity(target.pid) !== undefined && isRunning(target) !== true) return;
  for (const pid of [-target.pid, target.pid]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!isSystemError(error, "ESRCH")) throw error;
    }
  }
}

/** The process that a handle of `processHandle` names; undefined if it is another one's. */
export function handledProcess(handle: JsonValue): ProcessIdentity | undefined {
  if (typeof handle !== "object" || handle === null || Array.isArray(handle)) return undefined;
  const { pid, started, machine: where } = handle;
  const isIdentity = typeof pid === "number" && typeof started === "string" && typeof where === "string";
  return isIdentity ? { pid, started, machine: where } : undefined;
}
