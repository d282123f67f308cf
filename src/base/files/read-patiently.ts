import { patiently, readingPatience } from "./patiently.ts";
import { readingErrorWithin } from "./storage-errors.ts";

/**
 * Does work that reads files in a folder, and does it again where the disk failed it, whatever the error says then. Throws what the
 * work throws, and STORE_NOT_READABLE.
 */
export function readPatiently<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  return patiently(async () => {
    try {
      return await work();
    } catch (error) {
      throw readingErrorWithin(error, folder);
    }
  }, readingPatience);
}
