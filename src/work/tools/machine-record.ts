import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { readRecord } from "../../base/files/whole-files.ts";

/**
 * Reads a JSON file of the machine's folder of a run; undefined if there is none, or if a power failure cut it: what it
 * was about has ended with the machine then.
 */
export async function readMachineRecord<T>(path: string): Promise<T | undefined> {
  try {
    return await readRecord<T>(path);
  } catch (error) {
    if (isEverturnError(error) && error.code === "RECORD_CORRUPT") return undefined;
    throw error;
  }
}
