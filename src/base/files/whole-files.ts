import { closeSync, fsyncSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { isAbsence, isSystemError } from "../errors/system-error.ts";
import { openFolder } from "./flush.ts";
import { isThere } from "./is-there.ts";
import { linkOnce } from "./link-once.ts";
import { makeFolder } from "./make-folder.ts";
import { requireMarkToRead, requireMarkToWrite } from "./marked-folder.ts";
import { readingError, storageError } from "./storage-errors.ts";
import { temporaryName } from "./temporary-name.ts";

/** Writes a whole file or nothing: a temporary file beside it, then a rename. Throws DISK_FULL, STORE_NOT_WRITABLE. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    requireMarkToWrite(path);
    makeFolder(dirname(path));
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error says more; what is left is swept later
    throw storageError(error, path, Buffer.byteLength(content));
  }
}

/**
 * Like writeWhole, but the first writer wins: false if the file was there already. With `flush` it survives a power
 * failure once this returns. Synchronous, like readRecord: a turn writes several small files, and ways through the
 * thread pool would double what they cost. Throws DISK_FULL, STORE_NOT_WRITABLE; with `flush` the file may stand even
 * so, which the next attempt finds.
 */
export async function writeOnce(
  path: string,
  content: string | Uint8Array,
  { flush = false }: { flush?: boolean } = {},
): Promise<boolean> {
  const temporary = temporaryName(path);
  let folder: number | undefined;
  try {
    requireMarkToWrite(path);
    writeMakingFolder(temporary, content, flush);
    if (flush) folder = openFolder(dirname(path)); // what might be wanting is fetched before the link, not after it
    const isFirst = linkOnce(temporary, path);
    if (folder !== undefined) fsyncSync(folder); // also where another attempt was first, or an earlier try of this one
    return isFirst;
  } catch (error) {
    throw storageError(error, path, Buffer.byteLength(content));
  } finally {
    if (folder !== undefined) closeSync(folder);
    remove(temporary);
  }
}

function writeMakingFolder(path: string, content: string | Uint8Array, flush: boolean): void {
  try {
    writeFileSync(path, content, { flush });
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    makeFolder(dirname(path));
    writeFileSync(path, content, { flush });
  }
}

/** What can't be removed now (a store that became read-only) is swept later. */
function remove(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // the write's own error says why
  }
}

/** Reads a JSON file that Everturn wrote; undefined if there is none. Throws RECORD_CORRUPT, STORE_NOT_READABLE. */
export async function readRecord<T>(path: string): Promise<T | undefined> {
  if (!isThere(path)) return undefined; // as a rule: an error costs more than the look
  const text = textOf(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EverturnError("RECORD_CORRUPT", { file: path, reason: String(error) });
  }
}

/** Undefined for a file that was removed since it was seen. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (!isAbsence(error)) throw readingError(error, path);
    requireMarkToRead(path);
    return undefined;
  }
}
