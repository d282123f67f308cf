import { appendFileSync } from "node:fs";
import { dirname } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { surely } from "../../base/files/is-there.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { isStorageError, looking, storageError } from "../../base/files/storage-errors.ts";

/**
 * A `note` that also writes each note with its time to the log at `path`. Lines that the disk does not accept are
 * dropped, also while the run's folder is missing.
 */
export function loggedNotes(path: string, note: (text: string) => void = () => {}): (text: string) => void {
  surely(() => looking(path, () => makeFolder(dirname(path))));
  return (text) => {
    note(text);
    try {
      appendFileSync(path, `${new Date().toISOString()} ${text}\n`);
    } catch (error) {
      if (!isAbsence(error) && !isStorageError(storageError(error, path))) throw error;
    }
  };
}
