import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { isSystemError } from "../errors/system-error.ts";

/** The sorted names in a folder; none if it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

/** The names of the folders in a folder; none if it is not there. */
export async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

/** The names in a folder, at once and in no order; none if it is not there. */
export function namesInSync(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
