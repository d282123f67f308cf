import { distance } from "fastest-levenshtein";
import { EverturnError } from "../errors/everturn-error.ts";
import { foldersIn } from "../files/names-in.ts";
import { runFolder } from "../runs/run-folder.ts";
import type { TrajectoryName } from "../store/keys.ts";
import { openRunStore } from "../store/open-run-store.ts";
import { trajectoryReader } from "./reader.ts";

/** A trajectory that was found: its run and its place in the run's folder. */
export interface FoundTrajectory extends TrajectoryName {
  id: string;
  run: string;
}

const longestList = 5;

/**
 * Finds a trajectory by its id `run/stage/task/sample`, or by the end of it (`task/sample`) where only one in `runs`
 * ends so. Throws TRAJECTORY_NOT_FOUND with ids like it, TRAJECTORY_AMBIGUOUS with ids that match.
 */
export async function findTrajectory(runs: string, wanted: string): Promise<FoundTrajectory> {
  const asked = wanted.replace(/^\/+|\/+$/g, "");
  const all = await allTrajectories(runs, asked);
  const exact = all.filter(({ id }) => id === asked);
  const matches = exact.length > 0 ? exact : all.filter(({ id }) => id.endsWith(`/${asked}`));
  const [match] = matches;
  if (match === undefined) throw notFound(wanted, asked, all);
  if (matches.length > 1) {
    const shown = matches.slice(0, longestList).map(({ id }) => id);
    const more = matches.length > shown.length ? [`and ${matches.length - shown.length} more`] : [];
    const list = [...shown, ...more].join(", ");
    throw new EverturnError("TRAJECTORY_AMBIGUOUS", {
      trajectory: wanted,
      count: matches.length,
      matches: list,
    });
  }
  return match;
}

/** Every trajectory in `runs`; only those of the named run if `asked` is a whole id of a run that exists. */
async function allTrajectories(runs: string, asked: string): Promise<FoundTrajectory[]> {
  const names = await foldersIn(runs);
  const parts = asked.split("/");
  const named = parts.length === 4 ? names.filter((name) => name === parts[0]) : [];
  const found = (named.length > 0 ? named : names).map(async (run) => {
    const folder = runFolder(runs, run);
    const names = await trajectoryReader({ folder, store: openRunStore(folder.root) }).list();
    return names.map((name) => ({ ...name, run, id: `${run}/${name.stage}/${name.task}/${name.sample}` }));
  });
  return (await Promise.all(found)).flat();
}

function notFound(wanted: string, asked: string, all: readonly FoundTrajectory[]): EverturnError {
  const parts = asked.split("/").length;
  const scored = all.map(({ id }) => ({ id, score: distance(id.split("/").slice(-parts).join("/"), asked) }));
  const close = scored.sort((a, b) => a.score - b.score).slice(0, longestList);
  const hint =
    close.length === 0
      ? "There are no trajectories there yet; name the folder of your runs with --runs."
      : `An id is run/stage/task/sample. Ids like it: ${close.map(({ id }) => id).join(", ")}.`;
  return new EverturnError("TRAJECTORY_NOT_FOUND", { trajectory: wanted, hint });
}
