import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Inputs } from "./bundle-workflows.ts";

/**
 * A digest of the current state of each path: absent, a folder, or a file with its bytes, and the targets of links.
 * A new file or a link with another target changes it.
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

/** How many ms a file's times may be behind the clock: some file systems count in steps of two seconds. */
const margin = 2000;

/**
 * Whether all `found` paths still exist, and nothing present now, nor a link on the way to it, was created or
 * changed after `since` (ms since 1970). If so, `stateOf` describes the same files that were read since then. Always
 * false for `searched` folders, because their names are not tracked.
 */
export function areUnchangedSince(since: number, { found, missed, searched }: Inputs): boolean {
  if (searched.length > 0 || !found.every((path) => existsSync(path))) return false;
  const places = new Set([...found, ...missed].flatMap(withFoldersAbove));
  return [...places].every((path) => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    return now === undefined || changedAt(now) < since - margin;
  });
}

/** When a path last changed. For a folder only its creation counts, because adding files changes it too. */
function changedAt(now: Stats): number {
  return now.isDirectory() ? now.birthtimeMs : Math.max(now.ctimeMs, now.mtimeMs);
}

function withFoldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withFoldersAbove(parent)];
}
