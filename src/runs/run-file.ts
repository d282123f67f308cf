import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunFile } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { namesIn } from "../files/names-in.ts";
import type { Notice } from "../processes/notice.ts";
import { runFileKey } from "../store/keys.ts";
import { openFolderStore } from "../store/open-run-store.ts";
import { runFolder } from "./run-folder.ts";

/** Reads `run.json`: where the run's server is. Throws RUN_NOT_FOUND, RUN_OF_EARLIER_RELEASE, RECORD_CORRUPT. */
export async function readRunFile(
  runs: string,
  run: string,
  tell?: (notice: Notice) => void,
): Promise<RunFile> {
  const { root, run: path } = runFolder(runs, run);
  const file = await openFolderStore(root, tell).read(runFileKey);
  if (file !== undefined) return file;
  if (!isRun(runs, run)) throw await runNotFound(runs, run);
  // Up to 0.3 the plan was a file of this name, and no file said its own digest.
  if (existsSync(join(root, "plan.json"))) throw new EverturnError("RUN_OF_EARLIER_RELEASE", { run });
  throw new EverturnError("RECORD_CORRUPT", { file: path, reason: "it is cut, or not a record" });
}

/** Whether a folder of `runs` is a run's. */
export function isRun(runs: string, run: string): boolean {
  return existsSync(runFolder(runs, run).run);
}

/** The error that says which runs there are. */
export async function runNotFound(runs: string, run: string): Promise<EverturnError> {
  const known = (await namesIn(runs)).filter((name) => isRun(runs, name)).sort();
  const hint =
    known.length > 0
      ? `Runs there: ${known.slice(-10).join(", ")}.`
      : "There are no runs there yet; name the folder of your runs with --runs.";
  return new EverturnError("RUN_NOT_FOUND", { run, folder: runs, hint });
}
