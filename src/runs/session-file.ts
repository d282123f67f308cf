import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../errors/everturn-error.ts";
import { isSystemError, readRecord, writeWhole } from "./files.ts";
import type { RunFolder } from "./run-folder.ts";

/** Who works on a run now: `session.json` of its folder. */
export interface Session {
  /** The process that started it. */
  pid: number;
  address: string;
  ui?: string;
  /** The process of the run's own dev server. */
  server?: number;
}

/**
 * Makes sure that nobody else works on the run. A dev server that a killed session left behind is ended: two
 * servers on one database would spoil it. Throws RUN_ALREADY_ACTIVE.
 */
export async function claimRun(run: string, folder: RunFolder): Promise<void> {
  const session = await readRecord<Session>(folder.session);
  if (session === undefined) return;
  if (session.pid !== process.pid && /everturn|main\.ts/.test(commandOf(session.pid))) {
    throw new EverturnError("RUN_ALREADY_ACTIVE", { run, pid: session.pid });
  }
  const { server } = session;
  if (server !== undefined && commandOf(server).includes(folder.database)) await end(server);
  await rm(folder.session, { force: true });
}

/** Says that this process works on the run. */
export async function writeSession(folder: RunFolder, session: Session): Promise<void> {
  await writeWhole(folder.session, JSON.stringify(session));
}

/** Says that nobody works on the run any more. */
export async function clearSession(folder: RunFolder): Promise<void> {
  await rm(folder.session, { force: true });
}

/** The command line of a process; "" if there is none. Process ids are used again, so a pid alone says little. */
function commandOf(pid: number): string {
  const { status, stdout } = spawnSync("ps", ["-ww", "-o", "stat=,command=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const isZombie = stdout?.trimStart().startsWith("Z") ?? true;
  return status === 0 && !isZombie ? stdout : "";
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
