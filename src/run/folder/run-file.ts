import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isSurelyThere } from "../../base/files/is-there.ts";
import { namesIn } from "../../base/files/names-in.ts";
import { patiently } from "../../base/files/patiently.ts";
import { isStorageError } from "../../base/files/storage-errors.ts";
import type { Notice } from "../../base/processes/notice.ts";
import { checkFolder } from "../../base/validation/path-error.ts";
import type { RunFile } from "../../contracts/run.ts";
import { runFileKey } from "../store/keys.ts";
import { openFolderStore } from "../store/open-run-store.ts";
import { runFolder } from "./run-folder.ts";
import { storeOf } from "./store-of.ts";

/**
 * Reads `run.json`, which contains the address of the run's server. Throws RUN_NOT_FOUND, RUN_OF_EARLIER_RELEASE and
 * RECORD_CORRUPT.
 */
export async function readRunFile(
  runs: string,
  run: string,
  tell?: (notice: Notice) => void,
): Promise<RunFile> {
  const { root, run: path } = runFolder(runs, run);
  const file = await openFolderStore(root, tell).read(runFileKey);
  if (file !== undefined) return file;
  if (!isRun(runs, run)) throw await runNotFound(runs, run);
  // Up to 0.3 the plan was a file of this name, and no file contained its own digest.
  if (isSurelyThere(join(root, "plan.json"))) throw new EverturnError("RUN_OF_EARLIER_RELEASE", { run });
  throw new EverturnError("RECORD_CORRUPT", { file: path, reason: "it is cut, or not a record" });
}

/** Whether a folder of `runs` is a run's. Throws STORE_NOT_READABLE. */
export function isRun(runs: string, run: string): boolean {
  return isSurelyThere(runFolder(runs, run).run);
}

/** `isRun` for a list, which includes folders that can't be read. */
export function mayBeRun(runs: string, run: string): boolean {
  try {
    return isRun(runs, run);
  } catch (error) {
    if (isStorageError(error)) return true;
    throw error;
  }
}

/** The error that lists the available runs. Throws PATH_UNUSABLE if `runs` is not a folder. */
export async function runNotFound(runs: string, run: string): Promise<EverturnError> {
  if (isSurelyThere(runs)) checkFolder(runs);
  const known = (await patiently(() => namesIn(runs))).filter((name) => mayBeRun(runs, name)).sort();
  const store = await storeOf(runs);
  const option = store === undefined ? "folder of your runs with --runs" : "store of your runs with --store";
  const hint =
    known.length > 0
      ? `Runs there: ${known.slice(-10).join(", ")}.`
      : `There are no runs there yet; name the ${option}.`;
  return new EverturnError("RUN_NOT_FOUND", { run, folder: store ?? runs, hint });
}
