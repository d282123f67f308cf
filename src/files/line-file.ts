import { constants, existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { isSystemError } from "../errors/system-error.ts";
import { makeFolder } from "./make-folder.ts";
import { storageError } from "./storage-errors.ts";

/**
 * Writes a line of a file of lines, and flushes it. Its place is after the lines that `isBefore` holds for, which are
 * the file's first. Writers that race write the same bytes to the same place, so a late one changes nothing; what a
 * killed writer left torn is written over. Throws DISK_FULL, STORE_NOT_WRITABLE.
 */
export async function putLine<T>(path: string, line: string, isBefore: (line: T) => boolean): Promise<void> {
  const before = (await wholeLines(path)).filter((text) => isBefore(parsedLine<T>(path, text)));
  const position = before.reduce((total, text) => total + Buffer.byteLength(text) + 1, 0);
  try {
    makeFolder(dirname(path));
    const file = await open(path, constants.O_RDWR | constants.O_CREAT);
    try {
      await file.write(`${line}\n`, position);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw storageError(error, path, Buffer.byteLength(line) + 1);
  }
}

/** Reads a file of JSON lines that Everturn wrote; a torn last line is left out. None if there is no file. */
export async function readLines<T>(path: string): Promise<T[]> {
  return (await wholeLines(path)).map((line) => parsedLine<T>(path, line));
}

/** The lines of a file of lines; a torn last one is left out. None if there is no file. */
export async function wholeLines(path: string): Promise<string[]> {
  if (!existsSync(path)) return []; // as a rule: an error of the thread pool costs a turn more than all of its other reads
  const text = await readFile(path, "utf8").catch((error) => {
    if (isSystemError(error, "ENOENT")) return ""; // it was taken away meanwhile
    throw error;
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
