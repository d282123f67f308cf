import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../errors/everturn-error.ts";
import { commandOf } from "./command-of.ts";
import { isSystemError, readRecord, writeOnce, writeWhole } from "./files.ts";
import type { RunFolder } from "./run-folder.ts";

/** Who works on a run now: `session.json` of its folder. */
export interface Session {
  /** The process that started it. */
  pid: number;
  /** Of the run's server, once it is up. */
  address?: string;
  /** The process of the run's own dev server. */
  server?: number;
}

/**
 * Makes this process the one that works on the run. A dev server that a killed session left behind is ended: two
 * servers on one database would spoil it. Throws RUN_ALREADY_ACTIVE.
 */
export async function claimRun(run: string, folder: RunFolder): Promise<void> {
  const session = await readSession(folder);
  if (session !== undefined) {
    if (session.pid !== process.pid && /everturn|main\.ts/.test(commandOf(session.pid))) {
      throw new EverturnError("RUN_ALREADY_ACTIVE", { run, pid: session.pid });
    }
    const { server } = session;
    if (server !== undefined && commandOf(server).includes(folder.database)) await end(server);
    await rm(folder.session, { force: true });
  }
  const own: Session = { pid: process.pid };
  if (await writeOnce(folder.session, JSON.stringify(own))) return;
  const other = await readSession(folder); // it claimed the run since we looked
  throw new EverturnError("RUN_ALREADY_ACTIVE", { run, pid: other?.pid ?? "unknown" });
}

/** Who works on the run, or worked on it when everything was killed; undefined if nobody does. */
export function readSession(folder: RunFolder): Promise<Session | undefined> {
  return readRecord<Session>(folder.session);
}

/** Where the run's own server is, if the process that started it still works on the run. */
export async function sessionAddress(folder: RunFolder): Promise<string | undefined> {
  const session = await readSession(folder);
  return session !== undefined && commandOf(session.pid) !== "" ? session.address : undefined;
}

/** Says that this process works on the run. */
export async function writeSession(folder: RunFolder, session: Session): Promise<void> {
  await writeWhole(folder.session, JSON.stringify(session));
}

/** Says that nobody works on the run any more. */
export async function clearSession(folder: RunFolder): Promise<void> {
  await rm(folder.session, { force: true });
}

async function end(pid: number): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (isSystemError(error, "ESRCH")) return;
      throw error;
    }
    for (let waited = 0; waited < 50 && commandOf(pid) !== ""; waited++) await sleep(100);
  }
}
