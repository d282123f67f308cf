import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { isSystemError } from "../../base/errors/system-error.ts";

/** The record of a step that diverged. It suffices to repeat the step. */
export interface FailedBatch {
  /** Such as supervised-17 or policy-gradient-3. The file is named after it. */
  name: string;
  /** The inputs of the step. */
  batch: unknown;
  /** The trainer's settings and seed. */
  settings: unknown;
}

/**
 * Runs a step's `work`. If a loss or gradient is not finite, writes the batch to a JSON file in `folder` and throws
 * TRAINING_DIVERGED, which names the file. Without a folder, throws the original TRAINING_NOT_FINITE.
 */
export async function savingFailedBatch<T>(
  folder: string | undefined,
  { name, batch, settings }: FailedBatch,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (folder === undefined || !isEverturnError(cause) || cause.code !== "TRAINING_NOT_FINITE") throw cause;
    const file = join(folder, `${name}.json`);
    await mkdir(folder).catch((error) => {
      if (!isSystemError(error, "EEXIST")) throw error; // parent folders are not created: a run's may be gone
    });
    await writeFile(file, JSON.stringify({ error: cause.message, settings, batch }));
    const { step = 0, quantity = "", value = "" } = cause.params;
    throw new EverturnError("TRAINING_DIVERGED", { step, quantity, value, file }, { cause });
  }
}
