import { type EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { nativeFilesMissing } from "../../base/errors/native-files.ts";
import { pathError } from "../../base/validation/path-error.ts";

/** The table's error for anything that was thrown, including unusable paths and missing native files. */
export function knownError(thrown: unknown): EverturnError | undefined {
  return isEverturnError(thrown) ? thrown : (pathError(thrown) ?? nativeFilesMissing(thrown));
}

/** Runs `work`, and converts its errors to those of the table where possible. */
export async function known<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw knownError(error) ?? error;
  }
}
