import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineName } from "../../src/base/processes/machine-folder.ts";
import { processIdentity } from "../../src/base/processes/process-identity.ts";
import { memoryFolder } from "./memory-folder.ts";

/** Where folders are shared, nobody sees the processes of other machines and containers. */
const prefix = `everturn-tests-${machineName}-`;

/**
 * Gives the tests a temporary folder of their own, which goes with all that they left in it, and in it a place for what a
 * machine keeps of runs, so that none is found among the user's own, and one for what Node compiles: what one process of theirs has
 * compiled the others only read, also those of test files, their threads, and scripts that they start. It is in memory where that has
 * room, unless TMPDIR names a place.
 */
export default function giveOwnFolders(): () => void {
  const place = (process.env.TMPDIR ? undefined : memoryFolder()) ?? tmpdir();
  removeLeftovers(place);
  const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = join(folder, "state");
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  return () => remove(folder);
}

/** Removes what tests that were killed have left: it may be memory. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue;
    if (!processIdentity(Number.parseInt(name.slice(prefix.length), 10))) remove(join(place, name));
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
