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

/**
 * Writes a whole file or nothing: writes a temporary file in the same folder, then renames it. Throws DISK_FULL and
 * STORE_NOT_WRITABLE.
 */
export async function writeWhole(path: string, content: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    requireMarkToWrite(path);
    makeFolder(dirname(path));
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error explains more
    throw storageError(error, path, Buffer.byteLength(content));
  }
}

/**
 * Like writeWhole, but the first writer wins: returns false if the file existed already. With `flush`, it survives a
 * power failure once this returns. It is synchronous, like readRecord: a turn writes several small files, and the
 * thread pool would double their cost. Throws DISK_FULL and STORE_NOT_WRITABLE. With `flush` the file may exist even
 * then, and the next attempt finds it.
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
    if (flush) folder = openFolder(dirname(path)); // to fail before the link, not after it
    const isFirst = linkOnce(temporary, path);
    if (folder !== undefined) fsyncSync(folder); // even if another attempt or an earlier try of this one came first
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

/** Removes a file if possible. On a store that became read-only, a later sweep does. */
function remove(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // the write's own error explains why
  }
}

/**
 * Reads a JSON file that Everturn wrote; undefined if it does not exist. Throws RECORD_CORRUPT and
 * STORE_NOT_READABLE.
 */
export async function readRecord<T>(path: string): Promise<T | undefined> {
  if (!isThere(path)) return undefined; // the usual case: an error costs more than the look
  const text = textOf(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EverturnError("RECORD_CORRUPT", { file: path, reason: String(error) });
  }
}

/** A file's text; undefined if it was removed meanwhile. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (!isAbsence(error)) throw readingError(error, path);
    requireMarkToRead(path);
    return undefined;
  }
}
