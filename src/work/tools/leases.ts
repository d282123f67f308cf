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

/**
 * The resources that a worker of this machine holds for a tool's instance, as a file in the machine's folder
 * of the run.
 */
export interface Lease {
  trajectory: string;
  tool: string;
  /** The fencing number with which the worker took the instance. */
  fence: number;
  /** Distinguishes workers, even within one process. */
  worker: string;
  owner: ProcessIdentity;
  /** The mark that the processes of the instance carry. */
  mark: string;
  /** The plugin's handle for freeing the instance without the worker. */
  handle?: JsonValue;
}

/** A lease, and its file's name. */
export interface FiledLease {
  file: string;
  lease: Lease;
}

/** The name of `tool`'s instance for a trajectory. The file names of its leases begin with it. */
export function instanceKey({ stage, task, sample }: TrajectoryPlace, tool: string): string {
  return `${stage}~${task}~${sample}~${tool}`;
}

/** Milliseconds after which a lease that another machine has not renewed counts as abandoned. */
const otherMachinesTime = 5 * 60_000;

/** Milliseconds for which a dead worker's instance waits for another worker that reattaches to it. */
const freshTime = 60_000;

/** The leases in `folder`, for a worker. Throws DISK_FULL, STORE_NOT_WRITABLE. */
export function openLeases(folder: string) {
  const pathOf = (file: string) => join(folder, file);
  const fileOf = (key: string, { fence }: Lease) => `${key}~${fence}.json`;
  /** When other machines renewed their leases, and since when this process has known it, by its own clock. */
  const watched = new Map<string, { renewedAt: number; since: number }>();

  /** Lists all leases, or those of one instance. */
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
      if (!isAbsence(error)) throw error; // it was just given back
    }
  }

  function remove(file: string): void {
    removeFile(pathOf(file));
    watched.delete(file);
  }

  /**
   * Whether the worker is gone. For another machine's lease only this process's clock counts, because both
   * machines may have slept.
   */
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

  /** Whether its worker lived a minute ago. */
  function isFresh({ file }: FiledLease): boolean {
    const path = pathOf(file);
    const renewedAt = looking(path, () => statSync(path, { throwIfNoEntry: false }))?.mtimeMs ?? 0;
    return Date.now() - renewedAt < freshTime;
  }

  return {
    list,
    isFresh,
    renew,
    remove,
    isAbandoned,
    /**
     * Writes a lease at once, or updates its handle. It survives if the worker is killed right after that.
     */
    write,
    removeOwn: (key: string, lease: Lease) => remove(fileOf(key, lease)),
  };
}

export type Leases = ReturnType<typeof openLeases>;
