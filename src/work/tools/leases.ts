import { renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { namesInSync } from "../../base/files/names-in.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { looking, storageError } from "../../base/files/storage-errors.ts";
import { temporaryName } from "../../base/files/temporary-name.ts";
import { isRunning, machine, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { readMachineRecord } from "./machine-record.ts";

/** What a worker of this machine holds of a tool's instance: a file of the machine's folder of the run. */
export interface Lease {
  trajectory: string;
  tool: string;
  /** The number under which the worker took the instance. */
  fence: number;
  /** Tells workers apart, also those of one process. */
  worker: string;
  owner: ProcessIdentity;
  /** What the processes of the instance carry. */
  mark: string;
  /** What the plugin needs to free the instance without the worker. */
  handle?: JsonValue;
}

/** A lease, and its file's name. */
export interface FiledLease {
  file: string;
  lease: Lease;
}

/** Names the instance of `tool` for a trajectory, as the names of its leases begin. */
export function instanceKey({ stage, task, sample }: TrajectoryPlace, tool: string): string {
  return `${stage}~${task}~${sample}~${tool}`;
}

/** What another machine that shares the folder has not renewed for so long is nobody's, ms. */
const otherMachinesTime = 5 * 60_000;

/** The leases in `folder`, for a worker. Throws DISK_FULL, STORE_NOT_WRITABLE. */
export function openLeases(folder: string) {
  const pathOf = (file: string) => join(folder, file);
  const fileOf = (key: string, { fence }: Lease) => `${key}~${fence}.json`;
  /** When the leases of other machines were renewed, and since when that is known, by this process's own clock. */
  const watched = new Map<string, { renewedAt: number; since: number }>();

  /** All leases, or those of one instance. */
  async function list(key?: string): Promise<FiledLease[]> {
    const found: FiledLease[] = [];
    for (const file of namesInSync(folder)) {
      if (!/~.*~\d+\.json$/.test(file) || (key !== undefined && !file.startsWith(`${key}~`))) continue;
      const lease = await readMachineRecord<Lease>(pathOf(file));
      if (lease === undefined) remove(file);
      else found.push({ file, lease });
    }
    return found;
  }

  function write(key: string, lease: Lease): void {
    const path = pathOf(fileOf(key, lease));
    const temporary = temporaryName(path);
    try {
      makeFolder(folder);
      writeFileSync(temporary, JSON.stringify(lease));
      renameSync(temporary, path);
    } catch (error) {
      throw storageError(error, path);
    }
  }

  function renew(key: string, lease: Lease): void {
    const now = new Date();
    try {
      utimesSync(pathOf(fileOf(key, lease)), now, now);
    } catch (error) {
      if (!isAbsence(error)) throw error; // it was given back a moment ago
    }
  }

  function remove(file: string): void {
    removeFile(pathOf(file));
    watched.delete(file);
  }

  /** Whether the worker is gone. Another machine's is watched, by no clock but this process's: both may have slept. */
  function isAbandoned({ file, lease }: FiledLease): boolean {
    if (lease.owner.machine === machine) return isRunning(lease.owner) === false;
    const path = pathOf(file);
    const renewedAt = looking(path, () => statSync(path, { throwIfNoEntry: false }))?.mtimeMs;
    if (renewedAt === undefined) return false;
    const before = watched.get(file);
    if (before?.renewedAt === renewedAt) return performance.now() - before.since > otherMachinesTime;
    watched.set(file, { renewedAt, since: performance.now() });
    return false;
  }

  return {
    list,
    renew,
    remove,
    isAbandoned,
    /** Files a lease at once, or files again what frees its instance: a worker killed right after it has said so. */
    write,
    removeOwn: (key: string, lease: Lease) => remove(fileOf(key, lease)),
  };
}

export type Leases = ReturnType<typeof openLeases>;
