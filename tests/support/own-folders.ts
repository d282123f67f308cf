import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives the tests a temporary folder of their own, which goes with all that they left in it, and in it a place for what a
 * machine keeps of runs, so that none is found among the user's own, and one for what Node compiles: what one process of theirs has
 * compiled the others only read, also those of test files, their threads, and scripts that they start.
 */
export default function giveOwnFolders(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "everturn-tests-"));
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = join(folder, "state");
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
