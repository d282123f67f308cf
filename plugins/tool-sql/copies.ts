import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** The largest database of which each trajectory may have a copy, bytes: what is kept after each call is its whole content. */
const largest = 64 * 2 ** 20;
const prefix = "everturn-sql-";

/** Where a trajectory's own copy of a database is to be: the folder is made after it was noted, so that one is never left that nobody knows. */
export function copyPlace(): { folder: string; path: string } {
  const folder = join(tmpdir(), `${prefix}${randomUUID()}`);
  return { folder, path: join(folder, "database") };
}

/** Copies a database, with what its write-ahead log has. */
export function copyDatabase(from: string, to: string): void {
  const { size } = statSync(from);
  if (size > largest)
    throw new Error(`${from} has ${size} bytes: with write: true a database has at most ${largest}`);
  for (const ending of ["", "-wal", ".wal"])
    if (statSync(from + ending, { throwIfNoEntry: false }) !== undefined)
      copyFileSync(from + ending, to + ending);
}

export function packedCopy(path: string): Uint8Array {
  return gzipSync(readFileSync(path), { level: 1 });
}

/** Makes the folder of a copy; nobody else may read it. */
export function makeCopyFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
}

export function unpackCopy(bytes: Uint8Array, path: string): void {
  writeFileSync(path, gunzipSync(bytes));
}

/** Removes a copy's folder, which may be gone; another folder is left alone. */
export function removeCopy(folder: unknown): void {
  if (typeof folder === "string" && basename(folder).startsWith(prefix))
    rmSync(folder, { recursive: true, force: true });
}
