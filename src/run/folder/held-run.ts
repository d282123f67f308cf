import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isAbsence } from "../../base/errors/system-error.ts";
import { surely } from "../../base/files/is-there.ts";
import { namesInSync } from "../../base/files/names-in.ts";
import { readingError } from "../../base/files/storage-errors.ts";
import type { RunFile } from "../../contracts/run.ts";
import { decodeRecord } from "../store/envelope.ts";
import { placeRun } from "./run-folder.ts";

/**
 * The id of the run in the folder `name` of `runs`. From then on the folder is found by that id. `run.json` counts
 * rather than the folder's name, so a renamed run keeps its workflows, its records and the keys of its calls. Throws
 * RUN_COPIED if its original is in `runs` too.
 */
export function heldRun(runs: string, name: string): string {
  const run = idIn(runs, name) ?? name; // opening the run reports why it can't be read
  if (run !== name && idIn(runs, run) === run)
    throw new EverturnError("RUN_COPIED", { folder: join(runs, name), run, original: join(runs, run) });
  placeRun(runs, run, name);
  return run;
}

/** Finds a renamed run by its id if no folder has that name. Throws RUN_COPIED if two folders contain it. */
export function findRenamed(runs: string, run: string): void {
  const [name, other] = namesInSync(runs).filter((one) => idIn(runs, one) === run);
  if (name === undefined) return;
  if (other !== undefined)
    throw new EverturnError("RUN_COPIED", { folder: join(runs, other), run, original: join(runs, name) });
  placeRun(runs, run, name);
}

/** The id of the run in a folder; undefined if the folder is not a run's, or its file is damaged. */
function idIn(runs: string, name: string): string | undefined {
  const path = join(runs, name, "run.json");
  const content = unlessAbsent(path, () => readFileSync(path));
  if (content === undefined) return undefined;
  const decoded = decodeRecord<RunFile>(content);
  return "reason" in decoded ? undefined : decoded.value.run;
}

function unlessAbsent<Value>(path: string, read: () => Value): Value | undefined {
  return surely(() => {
    try {
      return read();
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw readingError(error, path);
    }
  });
}
