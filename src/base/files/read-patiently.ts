import { errorOfLostFolder } from "./marked-folder.ts";
import { patiently, readingPatience } from "./patiently.ts";
import { readingErrorWithin } from "./storage-errors.ts";

/**
 * Does work that reads files in a folder, and retries it while the disk fails or the folder of a run that this
 * process works on is gone, whatever error the work reports then. Throws the work's own errors and STORE_NOT_READABLE.
 */
export function readPatiently<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  return patiently(async () => {
    try {
      return await work();
    } catch (error) {
      throw errorOfLostFolder(readingErrorWithin(error, folder));
    }
  }, readingPatience);
}
