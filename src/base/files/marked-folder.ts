import { randomUUID } from "node:crypto";
import { type BigIntStats, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { flushFolder } from "./flush.ts";
import { linkOnce } from "./link-once.ts";
import { isStorageError, looking, storageError, textAt } from "./storage-errors.ts";
import { temporaryName } from "./temporary-name.ts";

/**
 * The file in a run's folder that holds its identity: `{"identity":"<UUID>"}`. A copy of the folder has the same
 * identity.
 */
export const markFile = "identity.json";

/** A folder that this process works in. */
interface Heeded {
  identity: string;
  /** Device and inode where the mark was last seen. The mark is read again only after they change. */
  place: string;
}

/** By absolute path. */
const heeded = new Map<string, Heeded>();

/** The identity in a folder's mark; undefined if the mark is missing or truncated. Throws STORE_NOT_READABLE. */
export function readMark(root: string): string | undefined {
  const path = join(root, markFile);
  const text = textAt(path);
  return /^\{"identity":"([0-9a-f-]{36})"\}\n$/.exec(text)?.[1];
}

/**
 * Returns a folder's identity, and first creates its mark if there is none, as in runs of earlier releases. The mark
 * survives a power failure once this returns. Throws DISK_FULL, STORE_NOT_WRITABLE and STORE_NOT_READABLE.
 */
export function markFolder(root: string): string {
  const path = join(root, markFile);
  for (;;) {
    const standing = readMark(root);
    if (standing !== undefined) return standing;
    const temporary = temporaryName(path);
    try {
      rmSync(path, { force: true }); // removes a truncated one
      writeFileSync(temporary, `{"identity":"${randomUUID()}"}\n`, { flush: true });
      linkOnce(temporary, path);
      flushFolder(root);
    } catch (error) {
      throw storageError(error, path);
    } finally {
      removeQuietly(temporary);
    }
  }
}

/** Removes a file if possible. If not, a later sweep does. */
function removeQuietly(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // the write's own error explains why
  }
}

/**
 * From now on `src/base/files/` and `src/run/store/` neither write into the folder nor take anything in it for
 * absent unless its mark is present: once the folder's file system is gone, the empty mount point is not the folder.
 * Returns a function that ends this. A folder without a mark is not checked. Throws STORE_NOT_READABLE.
 */
export function heedMark(root: string): () => void {
  const identity = readMark(root);
  if (identity === undefined) return () => {};
  const path = resolve(root);
  const own = { identity, place: placeOf(path) };
  heeded.set(path, own);
  return () => {
    if (heeded.get(path) === own) heeded.delete(path);
  };
}

/** Whether this process works in a folder whose mark it checks. */
export function heedsMarks(): boolean {
  return heeded.size > 0;
}

/** Throws STORE_NOT_WRITABLE if `path` is inside a folder whose mark this process checks and that folder is gone. */
export function requireMarkToWrite(path: string): void {
  requireMark(path, "STORE_NOT_WRITABLE");
}

/** Throws STORE_NOT_READABLE if `path` is inside a folder whose mark this process checks and that folder is gone. */
export function requireMarkToRead(path: string): void {
  requireMark(path, "STORE_NOT_READABLE");
}

/**
 * Returns STORE_NOT_READABLE if one of the folders whose marks this process checks is gone, because other code then
 * reports files as missing or damaged. Otherwise, and for an error of the disk, returns `error`.
 */
export function errorOfLostFolder(error: unknown): unknown {
  if (isStorageError(error)) return error;
  try {
    for (const root of heeded.keys()) requireMarkToRead(root);
    return error;
  } catch (lost) {
    return lost;
  }
}

function requireMark(path: string, code: "STORE_NOT_WRITABLE" | "STORE_NOT_READABLE"): void {
  if (heeded.size === 0) return;
  const root = rootOf(resolve(path));
  if (root === undefined) return;
  const known = heeded.get(root);
  if (known === undefined) return;
  const place = placeOf(root);
  if (place !== "" && place === known.place) return;
  if (place === "" || readMark(root) !== known.identity) {
    const reason = `the run's folder ${root} is not there: its ${markFile} is missing, or another folder's, as when a file system is not mounted`;
    throw new EverturnError(code, { file: path, reason });
  }
  known.place = place; // mounted again, or moved back
}

function rootOf(path: string): string | undefined {
  for (let above = path; ; above = dirname(above)) {
    if (heeded.has(above)) return above;
    if (dirname(above) === above) return undefined;
  }
}

/** The device and inode that a path leads to now; "" if nothing is there. */
function placeOf(root: string): string {
  const found = looking(root, (): BigIntStats | undefined =>
    statSync(root, { bigint: true, throwIfNoEntry: false }),
  );
  return found === undefined ? "" : `${found.dev} ${found.ino}`;
}
