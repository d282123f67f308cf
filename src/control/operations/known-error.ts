import { type EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { nativeFilesMissing } from "../../base/errors/native-files.ts";
import { pathError } from "../../base/validation/path-error.ts";

/** The error of the table for what was thrown: a path that can't be used and missing native files have theirs, too. */
export function knownError(thrown: unknown): EverturnError | undefined {
  return isEverturnError(thrown) ? thrown : (pathError(thrown) ?? nativeFilesMissing(thrown));
}

/** Does `work`; throws errors of the table wherever there is one for what was thrown. */
export async function known<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw knownError(error) ?? error;
  }
}
