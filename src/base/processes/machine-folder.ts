import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { isAbsence } from "../errors/system-error.ts";
import { machine } from "./process-identity.ts";

/** This machine, short enough for names. */
export const machineName = createHash("sha256").update(machine).digest("hex").slice(0, 8);

/**
 * Where this machine keeps what belongs to it of the run in the folder `root`, which other machines may share:
 * `$XDG_STATE_HOME/everturn`, else `~/.local/state/everturn`, a folder a run. Throws the system's error where the disk does not say
 * which folder that is: by another name the machine would not find what it holds.
 */
export function machineFolder(root: string): string {
  const state = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const path = realPath(root);
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 12);
  return join(state, "everturn", `${basename(path)}-${hash}`);
}

/** Five tries, since one failure of a disk is often the only one and nobody can wait here. */
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
