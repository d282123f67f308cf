import { appendFileSync } from "node:fs";
import { dirname } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { surely } from "../../base/files/is-there.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { isStorageError, looking, storageError } from "../../base/files/storage-errors.ts";

/** Notes that also go into the log at `path`, each with its time. A line that the disk does not take is dropped, also while the run's folder is gone. */
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
