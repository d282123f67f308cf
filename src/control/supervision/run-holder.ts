import { EverturnError } from "../../base/errors/everturn-error.ts";
import { patiently } from "../../base/files/patiently.ts";
import { readRecord } from "../../base/files/whole-files.ts";
import { isRunning, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";

/**
 * The process that works on a run now, in `session.json` of its folder. The file's time changes every two seconds
 * while it does.
 */
export interface RunHolder {
  /** The process that started it. */
  process: ProcessIdentity;
  /** The name of its machine or container, for people. */
  host: string;
  /** The address of the run's server, once it is up. */
  address?: string;
  /** The URL of its web UI, once it is up. */
  ui?: string;
  /** The id of the run's own server, which distinguishes it from another run's server at the same address. */
  cluster?: string;
  /** The process of the run's own dev server. */
  server?: ProcessIdentity;
}

/**
 * The holder that works on the run, or worked on it when everything was killed; undefined if there is none. Throws
 * STORE_NOT_READABLE.
 */
export function readRunHolder(folder: RunFolder): Promise<RunHolder | undefined> {
  return patiently(() => readRecord<RunHolder>(folder.holder));
}

/** The holder, if its process lives on this machine. */
export async function liveRunHolder(folder: RunFolder): Promise<RunHolder | undefined> {
  const holder = await readRunHolder(folder);
  return holder !== undefined && isRunning(holder.process) === true ? holder : undefined;
}

/** The address of the run's own server, if the process that started it still works on the run on this machine. */
export async function heldRunAddress(folder: RunFolder): Promise<string | undefined> {
  return (await liveRunHolder(folder))?.address;
}

/** Explains why there is no server: the run's own is not up, or another machine or container has it. */
export async function noServer(run: string, folder: RunFolder): Promise<EverturnError> {
  const holder = await readRunHolder(folder);
  const isElsewhere = holder !== undefined && isRunning(holder.process) === undefined;
  return isElsewhere ? heldElsewhere(run, folder, holder) : new EverturnError("RUN_HAS_NO_SERVER", { run });
}

/** The error that another machine or container works on the run. */
export function heldElsewhere(run: string, folder: RunFolder, holder: RunHolder): EverturnError {
  const { process, host } = holder;
  return new EverturnError("RUN_HELD_ELSEWHERE", { run, pid: process.pid, host, file: folder.holder });
}
