import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { isAbsence } from "../errors/system-error.ts";
import { isThere } from "./is-there.ts";
import { makeFolder } from "./make-folder.ts";
import { requireMarkToRead, requireMarkToWrite } from "./marked-folder.ts";
import { readingError, storageError } from "./storage-errors.ts";

/**
 * Writes lines at a byte offset of a file and flushes them. Racing writers write the same bytes to the same place,
 * so a late one changes nothing. A torn line that a killed writer left is overwritten. Throws DISK_FULL and
 * STORE_NOT_WRITABLE.
 */
export async function putLines(path: string, lines: readonly string[], position: number): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  try {
    requireMarkToWrite(path);
    makeFolder(dirname(path));
    const file = await open(path, constants.O_RDWR | constants.O_CREAT);
    try {
      await file.write(text, position);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw storageError(error, path, Buffer.byteLength(text));
  }
}

/**
 * The last whole line of a JSON Lines file and the offset of the next one; undefined if it has none. It reads
 * nothing before that line. Throws RECORD_CORRUPT and STORE_NOT_READABLE.
 */
export async function lastLine<T>(path: string): Promise<{ line: T; end: number } | undefined> {
  if (!isThere(path)) return undefined;
  try {
    return await lastLineOf<T>(path);
  } catch (error) {
    throw readingError(error, path);
  }
}

async function lastLineOf<T>(path: string): Promise<{ line: T; end: number } | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    for (let length = tail; ; length *= 2) {
      const from = Math.max(0, size - length);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const last = buffer.lastIndexOf(10, bytesRead - 1);
      const before = last < 1 ? -1 : buffer.lastIndexOf(10, last - 1);
      if (from > 0 && before < 0) continue;
      if (last < 0) return undefined;
      const text = buffer.toString("utf8", before + 1, last);
      return { line: parsedLine<T>(path, text), end: from + last + 1 };
    }
  } finally {
    await file.close();
  }
}

/** Bytes first read from the end of a file, which hold a few lines of steps. */
const tail = 2 ** 14;

/**
 * Reads a JSON Lines file that Everturn wrote, without a torn last line. Returns no lines if the file does not
 * exist. Throws STORE_NOT_READABLE.
 */
export async function readLines<T>(path: string): Promise<T[]> {
  return (await wholeLines(path)).map((line) => parsedLine<T>(path, line));
}

/**
 * The lines of a file, without a torn last one. Returns none if the file does not exist. Throws STORE_NOT_READABLE.
 */
export async function wholeLines(path: string): Promise<string[]> {
  if (!isThere(path)) return []; // usual: an error from the thread pool costs a turn more than its other reads
  const text = await readFile(path, "utf8").catch((error) => {
    if (!isAbsence(error)) throw readingError(error, path);
    requireMarkToRead(path); // throws if the folder itself disappeared meanwhile
    return "";
  });
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean);
}

function parsedLine<T>(path: string, line: string): T {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new EverturnError("RECORD_CORRUPT", { file: path, reason: String(error) });
  }
}
