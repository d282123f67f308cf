import type { JsonValue } from "../../contracts/json.ts";
import { isRunning, machine, type ProcessIdentity, processIdentity } from "./process-identity.ts";
import { sendSignal } from "./send-signal.ts";

/** A handle for `killProcess` to a process that this one started, for a tool's `hold`. */
export function processHandle(pid: number | undefined): JsonValue {
  const identity = pid === undefined ? undefined : processIdentity(pid);
  return identity ?? null;
}

/**
 * Kills a process by its handle, and the rest of its process group if it leads one (spawned `detached`). Does
 * nothing if the process has ended, if its id belongs to another process by now, or if it is on another machine.
 */
export function killProcess(handle: JsonValue): void {
  const target = handledProcess(handle);
  if (target?.machine !== machine) return;
  // The system does not reuse an id while a group has it. If no process has the id, the group is still the original
  // one.
  if (processIdentity(target.pid) !== undefined && isRunning(target) !== true) return;
  for (const pid of [-target.pid, target.pid]) sendSignal(pid, "SIGKILL");
}

/** The process that a handle names, if `processHandle` made the handle; else undefined. */
export function handledProcess(handle: JsonValue): ProcessIdentity | undefined {
  if (typeof handle !== "object" || handle === null || Array.isArray(handle)) return undefined;
  const { pid, started, machine: where } = handle;
  const isIdentity = typeof pid === "number" && typeof started === "string" && typeof where === "string";
  return isIdentity ? { pid, started, machine: where } : undefined;
}
