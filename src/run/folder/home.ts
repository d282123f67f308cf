import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { readMark } from "../../base/files/marked-folder.ts";
import { looking, textAt } from "../../base/files/storage-errors.ts";
import { writeWhole } from "../../base/files/whole-files.ts";

/** Records where a run's folder was when a command last worked on it: `{"folder":"/absolute/path"}`. */
const homeFile = "home.json";

/**
 * Throws RUN_COPIED if the folder `root` is a copy: a command last worked on a different folder, which still exists.
 * A folder that was moved, or has another path, is not a copy. A machine that can't see the original can't detect a
 * copy. Throws STORE_NOT_READABLE.
 */
export function checkHome(root: string, run: string): void {
  const original = readHome(root);
  if (original === undefined || isSameFolder(original, root)) return;
  const identity = readMark(root);
  if (identity === undefined || readMark(original) !== identity) return;
  throw new EverturnError("RUN_COPIED", { run, folder: root, original });
}

/**
 * Records that this is the run's folder, for `checkHome`. Throws the same errors, DISK_FULL and STORE_NOT_WRITABLE.
 */
export async function settleHome(root: string, run: string): Promise<void> {
  checkHome(root, run);
  const folder = looking(root, () => realpathSync(root));
  if (readHome(root) !== folder) await writeWhole(join(root, homeFile), `${JSON.stringify({ folder })}\n`);
}

function readHome(root: string): string | undefined {
  const path = join(root, homeFile);
  const text = textAt(path);
  return /^\{"folder":(".*")\}\n$/.test(text) ? JSON.parse(text).folder : undefined; // ignores a truncated file
}

/** Compares inode and creation time, because one folder may be mounted or linked at several paths. */
function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) =>
    looking(path, () => statSync(path, { bigint: true, throwIfNoEntry: false })),
  );
  return first?.ino === second?.ino && first?.birthtimeNs === second?.birthtimeNs;
}
