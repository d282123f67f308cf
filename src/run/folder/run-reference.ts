import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { isSurelyThere, surely } from "../../base/files/is-there.ts";
import { looking } from "../../base/files/storage-errors.ts";
import { findRenamed, heldRun } from "./held-run.ts";
import { isRun } from "./run-file.ts";

/** A run: the folder that contains it, and its id there. */
export interface RunReference {
  runs: string;
  run: string;
}

/**
 * The run that a person names by its id in the folder `--runs`, or by the path of its own folder, which may be
 * elsewhere. A renamed folder is found by its own name or by the run's id. The result may refer to a missing run;
 * opening that throws RUN_NOT_FOUND. Throws RUN_COPIED and STORE_NOT_READABLE.
 */
export function runReference(named: string, folder: string): RunReference {
  const inRuns = resolve(folder, named);
  const isPath = named.includes("/") || named.includes(sep);
  const places = isPath ? [resolve(named), inRuns] : [inRuns, resolve(named)];
  const [first = inRuns] = places;
  const path = places.find(isRunAt) ?? first;
  if (named === "" || !isSurelyThere(path)) {
    const runs = isPath ? dirname(path) : resolve(folder);
    const run = isPath ? basename(path) : named;
    if (run !== "") findRenamed(runs, run);
    return { runs, run };
  }
  // A link to a run resolves to that run. Under a name of its own it would be worked on twice.
  const place = () => (lstatSync(path).isSymbolicLink() ? realpathSync(path) : path);
  const real = surely(() => looking(path, place));
  return { runs: dirname(real), run: heldRun(dirname(real), basename(real)) };
}

/**
 * The trajectory that a person names by its id or a suffix of it, among the runs in the folder `--runs`, or by a
 * path through its run's folder (`runs/RUN/step-0001/task-00012/0`, with or without `trajectories/`).
 */
export function trajectoryReference(named: string, folder: string): { runs: string; trajectory: string } {
  const runs = resolve(folder);
  const [first = ""] = named.split("/");
  if (first !== "" && !first.startsWith(".") && isRun(runs, first)) return { runs, trajectory: named };
  for (let path = dirname(resolve(named)); dirname(path) !== path; path = dirname(path)) {
    if (!isRunAt(path)) continue;
    const found = runReference(path, folder);
    const place = relative(path, resolve(named)).replace(/^trajectories[/\\]/, "");
    const parts = place.split(sep);
    return { runs: found.runs, trajectory: [...(parts.length === 3 ? [found.run] : []), ...parts].join("/") };
  }
  return { runs, trajectory: named };
}

function isRunAt(path: string): boolean {
  return isRun(dirname(path), basename(path));
}
