import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/**
 * The maximum bytes of a database that each trajectory copies, because its whole content is saved after each
 * call.
 */
const largest = 64 * 2 ** 20;
const prefix = "everturn-sql-";

/**
 * Chooses the place of a trajectory's own copy of a database. The folder is made only after it has been
 * recorded, so that no unknown folder is left behind.
 */
export function copyPlace(): { folder: string; path: string } {
  const folder = join(tmpdir(), `${prefix}${randomUUID()}`);
  return { folder, path: join(folder, "database") };
}

/** Copies a database together with its write-ahead log. */
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

/** Makes the folder of a copy, readable only by this user. */
export function makeCopyFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
}

export function unpackCopy(bytes: Uint8Array, path: string): void {
  writeFileSync(path, gunzipSync(bytes));
}

/** Removes a copy's folder if it exists. Leaves other folders alone. */
export function removeCopy(folder: unknown): void {
  if (typeof folder === "string" && basename(folder).startsWith(prefix))
    rmSync(folder, { recursive: true, force: true });
}
