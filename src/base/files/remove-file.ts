import { unlinkSync } from "node:fs";
import { isAbsence } from "../errors/system-error.ts";
import { requireMarkToWrite } from "./marked-folder.ts";
import { storageError } from "./storage-errors.ts";

/** Removes a file if it exists. Throws STORE_NOT_WRITABLE. */
export function removeFile(path: string): void {
  try {
    requireMarkToWrite(path);
    unlinkSync(path);
  } catch (error) {
    if (!isAbsence(error)) throw storageError(error, path);
  }
}
