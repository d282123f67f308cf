import { EverturnError } from "../../base/errors/everturn-error.ts";
import { patiently } from "../../base/files/patiently.ts";
import { readRecord } from "../../base/files/whole-files.ts";
import { isRunning, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";

/** Who works on a run now: `session.json` of its folder. While they do, the file's time changes every two seconds. */
export interface Session {
  /** The process that started it. */
  process: ProcessIdentity;
  /** The name of its machine or container, for people. */
  host: string;
  /** Of the run's server, once it is up. */
  address?: string;
  /** The URL of its web UI, once it is up. */
  ui?: string;
  /** The id that the run's own server has, by which it is told from another run's at the same address. */
  cluster?: string;
  /** The process of the run's own dev server. */
  server?: ProcessIdentity;
}

/** Who works on the run, or worked on it when everything was killed; undefined if nobody does. Throws STORE_NOT_READABLE. */
export function readSession(folder: RunFolder): Promise<Session | undefined> {
  return patiently(() => readRecord<Session>(folder.session));
}

/** The session of a process that works on the run on this machine. */
export async function liveSession(folder: RunFolder): Promise<Session | undefined> {
  const session = await readSession(folder);
  return session !== undefined && isRunning(session.process) === true ? session : undefined;
}

/** Where the run's own server is, if the process that started it still works on the run, on this machine. */
export async function sessionAddress(folder: RunFolder): Promise<string | undefined> {
  return (await liveSession(folder))?.address;
}

/** Why there is no server: the run's own is not up, or another machine or container has it. */
export async function noServer(run: string, folder: RunFolder): Promise<EverturnError> {
  const session = await readSession(folder);
  const isElsewhere = session !== undefined && isRunning(session.process) === undefined;
  return isElsewhere ? heldElsewhere(run, folder, session) : new EverturnError("RUN_HAS_NO_SERVER", { run });
}

/** The error that says that another machine or container works on the run. */
export function heldElsewhere(run: string, folder: RunFolder, session: Session): EverturnError {
  const { process, host } = session;
  return new EverturnError("RUN_HELD_ELSEWHERE", { run, pid: process.pid, host, file: folder.session });
}
