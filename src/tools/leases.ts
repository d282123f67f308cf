import { randomUUID } from "node:crypto";
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "../contracts/json.ts";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";
import { isSystemError } from "../errors/system-error.ts";
import { makeFolder } from "../files/make-folder.ts";
import { namesInSync } from "../files/names-in.ts";
import { temporaryName } from "../files/temporary-name.ts";
import { readRecord, writeOnce } from "../files/whole-files.ts";
import { isRunning, type ProcessIdentity } from "../processes/process-identity.ts";

/** A worker's claim on the instance of a tool for a trajectory: a file of the run's folder. */
export interface Lease {
  trajectory: string;
  tool: string;
  /** The journal's folder of the trajectory, relative to the run's. */
  journal: string;
  /** One more than that of the lease it took over: the highest one holds. */
  fence: number;
  /** Tells workers apart, also those of one process. */
  worker: string;
  owner: ProcessIdentity;
  /** What the processes of the instance carry. */
  mark: string;
  claimedAt: string;
  /** What the plugin needs to free the instance without the worker. */
  handle?: JsonValue;
}

/** A lease, its file's name, and when it was last renewed, in milliseconds since 1970. */
export interface FiledLease {
  file: string;
  lease: Lease;
  renewedAt: number;
}

/** Names the instance of `tool` for a trajectory, as the names of its leases begin. */
export function instanceKey({ stage, task, sample }: TrajectoryPlace, tool: string): string {
  return `${stage}~${task}~${sample}~${tool}`;
}

/** A lease of another machine that was not renewed for so long is nobody's, ms. */
const otherMachinesTime = 5 * 60_000;

/** Whether the worker that held it is gone. */
export function isAbandoned({ lease, renewedAt }: FiledLease): boolean {
  const isAlive = isRunning(lease.owner);
  return isAlive === undefined ? Date.now() - renewedAt > otherMachinesTime : !isAlive;
}

/** The leases in `folder`, for the worker that calls itself `worker`. */
export function openLeases(folder: string, worker: string, owner: ProcessIdentity) {
  const pathOf = (file: string) => join(folder, file);
  const fileOf = (key: string, fence: number) => `${key}~${fence}.json`;

  /** All leases, or those of one instance, the newest one first. */
  async function list(key?: string): Promise<FiledLease[]> {
    const found: FiledLease[] = [];
    for (const file of namesInSync(folder)) {
      if (!/~\d+\.json$/.test(file) || (key !== undefined && !file.startsWith(`${key}~`))) continue;
      const lease = await readRecord<Lease>(pathOf(file));
      const renewedAt = statSync(pathOf(file), { throwIfNoEntry: false })?.mtimeMs;
      if (lease !== undefined && renewedAt !== undefined) found.push({ file, lease, renewedAt });
    }
    return found.sort((a, b) => b.lease.fence - a.lease.fence);
  }

  /** Takes the instance `key`, from whoever held it: of those that ask at once, one gets the next fence. */
  async function claim(key: string, about: Pick<Lease, "trajectory" | "tool" | "journal">): Promise<Lease> {
    for (;;) {
      const [before] = await list(key);
      const fence = (before?.lease.fence ?? 0) + 1;
      const claimedAt = new Date().toISOString();
      const lease: Lease = { ...about, fence, worker, owner, mark: randomUUID(), claimedAt };
      if (await writeOnce(pathOf(fileOf(key, fence)), JSON.stringify(lease))) return lease;
    }
  }

  /** Notes what frees the instance; at once, so that a worker killed right after it has said so. */
  function hold(key: string, lease: Lease, handle: JsonValue): void {
    lease.handle = handle;
    const path = pathOf(fileOf(key, lease.fence));
    const temporary = temporaryName(path);
    makeFolder(folder);
    writeFileSync(temporary, JSON.stringify(lease));
    renameSync(temporary, path);
  }

  async function isMine(key: string, lease: Lease): Promise<boolean> {
    const [newest] = await list(key);
    return newest?.lease.worker === worker && newest.lease.fence === lease.fence;
  }

  function renew(key: string, { fence }: Lease): void {
    const now = new Date();
    try {
      utimesSync(pathOf(fileOf(key, fence)), now, now);
    } catch (error) {
      if (!isSystemError(error, "ENOENT")) throw error; // it was taken a moment ago: the next look notices
    }
  }

  function remove(file: string): void {
    rmSync(pathOf(file), { force: true });
  }

  /** The files of this worker's leases that nobody has taken over. */
  async function holders(): Promise<Set<string>> {
    const newest = new Map<string, FiledLease>();
    for (const filed of await list()) {
      const key = filed.file.slice(0, filed.file.lastIndexOf("~"));
      if (!newest.has(key)) newest.set(key, filed);
    }
    const own = [...newest.values()].filter(({ lease }) => lease.worker === worker);
    return new Set(own.map(({ file }) => file));
  }

  return {
    ...{ worker, list, claim, hold, isMine, holders, renew, remove },
    nameOf: (key: string, { fence }: Lease) => fileOf(key, fence),
    removeOwn: (key: string, { fence }: Lease) => remove(fileOf(key, fence)),
  };
}

export type Leases = ReturnType<typeof openLeases>;
