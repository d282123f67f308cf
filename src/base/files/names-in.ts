import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { isAbsence } from "../errors/system-error.ts";
import { requireMarkToRead } from "./marked-folder.ts";
import { readingError } from "./storage-errors.ts";

/** The sorted names in a folder; none if it does not exist. Throws STORE_NOT_READABLE. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    return noneIfAbsent(error, folder);
  }
}

/** The names of the folders inside a folder; none if it does not exist. Throws STORE_NOT_READABLE. */
export async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    return noneIfAbsent(error, folder);
  }
}

/** The unsorted names in a folder, read synchronously; none if it does not exist. Throws STORE_NOT_READABLE. */
export function namesInSync(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    return noneIfAbsent(error, folder);
  }
}

function noneIfAbsent(error: unknown, folder: string): [] {
  if (!isAbsence(error)) throw readingError(error, folder);
  requireMarkToRead(folder);
  return [];
}
