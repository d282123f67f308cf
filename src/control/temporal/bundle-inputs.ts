import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Inputs } from "./bundle-workflows.ts";

/**
 * A digest of what is at each path now: nothing, a folder, or a file with these bytes, and where links lead. A file
 * that appears where none was looks different, and so does a link that leads elsewhere.
 */
export function stateOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of [...paths].sort()) hash.update(`${JSON.stringify(path)} ${stateAt(path)}\n`);
  return hash.digest("hex");
}

function stateAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "absent";
  const place = JSON.stringify(realpathSync.native(path));
  if (!found.isFile()) return `folder ${place}`;
  return `${createHash("sha256").update(readFileSync(path)).digest("hex")} ${place}`;
}

/** Milliseconds by which a file's times may be behind the clock: some file systems count in two seconds. */
const margin = 2000;

/**
 * Whether what was found is still there, and nothing that is there now, nor a link on the way to it, was made or changed
 * after `since` (milliseconds since 1970): what was read since then is what `stateOf` sees. Never so for folders that were
 * searched, of whose names nobody keeps track.
 */
export function areUnchangedSince(since: number, { found, missed, searched }: Inputs): boolean {
  if (searched.length > 0 || !found.every((path) => existsSync(path))) return false;
  const places = new Set([...found, ...missed].flatMap(withFoldersAbove));
  return [...places].every((path) => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    return now === undefined || changedAt(now) < since - margin;
  });
}

/** A folder changes with what is put into it: only when it was made counts. */
function changedAt(now: Stats): number {
  return now.isDirectory() ? now.birthtimeMs : Math.max(now.ctimeMs, now.mtimeMs);
}

function withFoldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withFoldersAbove(parent)];
}
