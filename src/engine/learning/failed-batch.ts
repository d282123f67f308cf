import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { isSystemError } from "../../base/errors/system-error.ts";

/** What is written down of a step that diverged: enough to take it again. */
export interface FailedBatch {
  /** Such as supervised-17 or policy-gradient-3; the file is named after it. */
  name: string;
  /** What the step was given. */
  batch: unknown;
  /** The trainer's settings and seed. */
  settings: unknown;
}

/**
 * Does a step's `work`; if it stops on a loss or gradient that is not finite, writes the batch to a JSON file in `folder`
 * and throws TRAINING_DIVERGED, which names the file. Without a folder the error stays TRAINING_NOT_FINITE.
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
      if (!isSystemError(error, "EEXIST")) throw error; // no folder above it is made: a run's may be gone with its file system
    });
    await writeFile(file, JSON.stringify({ error: cause.message, settings, batch }));
    const { step = 0, quantity = "", value = "" } = cause.params;
    throw new EverturnError("TRAINING_DIVERGED", { step, quantity, value, file }, { cause });
  }
}
