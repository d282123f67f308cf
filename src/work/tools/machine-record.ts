import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { readRecord } from "../../base/files/whole-files.ts";

/**
 * Reads a JSON file in the machine's folder of a run. Undefined if it is absent, or if a power failure cut
 * it. What it described then ended with the machine.
 */
export async function readMachineRecord<T>(path: string): Promise<T | undefined> {
  try {
    return await readRecord<T>(path);
  } catch (error) {
    if (isEverturnError(error) && error.code === "RECORD_CORRUPT") return undefined;
    throw error;
  }
}
