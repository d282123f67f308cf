import { randomUUID } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";

/** Whether `error` is the operating system's error `code`, such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Writes a whole file or nothing: a temporary file beside it, then a rename. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Like writeWhole, but the first writer wins: false if the file was there already. Synchronous, like readRecord: a
 * turn writes several small files, and ways through the thread pool would double what they cost.
 */
export async function writeOnce(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  writeMakingFolder(temporary, content);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}

function writeMakingFolder(path: string, content: string): void {
  try {
    writeFileSync(path, content);
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** Reads a JSON file that Everturn wrote; undefined if there is none. Throws RECORD_CORRUPT. */
export async function readRecord<T>(path: string): Promise<T | undefined> {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EverturnError("RECORD_CORRUPT", { file: path, reason: String(error) });
  }
}

/** Appends `line` to a file of lines; a torn last line (a writer was killed) is cut off first. */
export async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, "a+");
  try {
    const text = await file.readFile("utf8");
    const whole = text.lastIndexOf("\n") + 1;
    if (whole < text.length) await file.truncate(Buffer.byteLength(text.slice(0, whole)));
    await file.write(`${line}\n`);
  } finally {
    await file.close();
  }
}

/** Reads a file of JSON lines that Everturn wrote; a torn last line is left out. None if there is no file. */
export async function readLines<T>(path: string): Promise<T[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
  const whole = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean);
  try {
    return whole.map((line) => JSON.parse(line));
  } catch (error) {
    throw new EverturnError("RECORD_CORRUPT", { file: path, reason: String(error) });
  }
}
