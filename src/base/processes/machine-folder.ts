import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { isAbsence } from "../errors/system-error.ts";
import { machine } from "./process-identity.ts";

/** A hash of this machine that is short enough for names. */
export const machineName = createHash("sha256").update(machine).digest("hex").slice(0, 8);

/**
 * The folder in which this machine keeps its own files about the run in `root`, a folder that other machines may
 * share: `$XDG_STATE_HOME/everturn`, else `~/.local/state/everturn`, with one folder per run. Throws the system's
 * error if the disk can't resolve `root`, because under another name the machine would not find its files.
 */
export function machineFolder(root: string): string {
  const path = realPath(root);
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 12);
  return join(stateFolder(), `${basename(path)}-${hash}`);
}

/** Where this machine keeps its own state: `$XDG_STATE_HOME/everturn`, else `~/.local/state/everturn`. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "everturn");
}

/** Tries five times: a disk's failure is often a single one, and callers can't wait here. */
function realPath(root: string): string {
  for (let tries = 1; ; tries++) {
    try {
      return realpathSync(root);
    } catch (error) {
      if (isAbsence(error)) return resolve(root);
      if (tries === 5) throw error;
    }
  }
}
