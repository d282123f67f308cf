import { isRun } from "./run-file.ts";
import { type RunReference, runReference } from "./run-reference.ts";

/**
 * The evaluation that a person names: `RUN/EVALUATION`, with the run as an id in the folder `--runs` or as a path.
 * If only a run is given, the caller chooses an evaluation.
 */
export function evaluationReference(named: string, folder: string): RunReference & { evaluation?: string } {
  const reference = runReference(named, folder);
  const at = named.lastIndexOf("/");
  if (at < 1 || isRun(reference.runs, reference.run)) return reference;
  const outer = runReference(named.slice(0, at), folder);
  return isRun(outer.runs, outer.run) ? { ...outer, evaluation: named.slice(at + 1) } : reference;
}
