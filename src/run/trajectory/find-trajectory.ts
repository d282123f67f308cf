import { distance } from "fastest-levenshtein";
import { EverturnError } from "../../base/errors/everturn-error.ts";
// biome-ignore lint/style/noRestrictedImports: which folders are runs
import { foldersIn } from "../../base/files/names-in.ts";
import { patiently } from "../../base/files/patiently.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import type { OpenRun } from "../folder/open-runs.ts";
import { runFolder } from "../folder/run-folder.ts";
import type { TrajectoryName } from "../store/keys.ts";
import { openRunStore } from "../store/open-run-store.ts";
import { trajectoryReader } from "./reader.ts";

/** A found trajectory: its run, and its place in the run's folder. */
export interface Found extends TrajectoryName {
  id: string;
  run: string;
}

const longestList = 5;

/**
 * Finds a trajectory by its id `run/stage/task/sample`, or by a suffix (`task/sample`) that is unique in `runs` or
 * in the named run. Throws TRAJECTORY_NOT_FOUND with similar ids, and TRAJECTORY_AMBIGUOUS with the matching ones.
 */
export async function findTrajectory(
  runs: string,
  wanted: string,
  only?: Pick<OpenRun, "id" | "store">,
): Promise<Found> {
  const asked = wanted.replace(/^\/+|\/+$/g, "");
  const matches: Found[] = [];
  let count = 0;
  let close: Scored[] = [];
  for await (const one of allTrajectories(runs, asked, only)) {
    if (one.id === asked) return one;
    if (one.id.endsWith(`/${asked}`)) {
      count++;
      if (matches.length < longestList) matches.push(one);
    }
    close = closest(close, one.id, asked);
  }
  const [match] = matches;
  if (match === undefined) {
    const isRun = only === undefined && (await patiently(() => foldersIn(runs))).includes(asked);
    throw notFound(
      wanted,
      isRun ? `This is a run: \`npx everturn trajectories ${asked}\` lists its trajectories.` : like(close),
    );
  }
  if (count > 1) {
    const shown = matches.map(({ id }) => id);
    const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
    throw new EverturnError("TRAJECTORY_AMBIGUOUS", {
      trajectory: wanted,
      count,
      matches: [...shown, ...more].join(", "),
    });
  }
  return match;
}

/** Every trajectory in `runs`, the named run first. If `asked` is a whole id of an existing run, only that run's. */
async function* allTrajectories(
  runs: string,
  asked: string,
  only?: Pick<OpenRun, "id" | "store">,
): AsyncGenerator<Found> {
  const names = only === undefined ? await patiently(() => foldersIn(runs)) : [only.id];
  const parts = asked.split("/");
  const named = parts.length === 4 ? names.filter((name) => name === parts[0]) : [];
  const [, stage, task] = parts;
  for (const run of named.length > 0 ? named : names) {
    const reader = trajectoryReader(only ?? { store: openRunStore(runFolder(runs, run).root) });
    for (const scope of named.length > 0 ? [{ stage, task }, {}] : [{}]) {
      for await (const { items } of reader.stages(scope)) {
        for (const name of items) {
          yield { ...name, run, id: trajectoryId({ ...name, run }) };
        }
      }
    }
  }
}

/** Another id, and its distance from the requested one. */
interface Scored {
  id: string;
  score: number;
}

/** The ids closest to the requested one, after considering one more. */
function closest(close: Scored[], id: string, asked: string): Scored[] {
  const score = distance(id.split("/").slice(-asked.split("/").length).join("/"), asked);
  const last = close[longestList - 1];
  if (last !== undefined && last.score <= score) return close;
  return [...close, { id, score }].sort((a, b) => a.score - b.score).slice(0, longestList);
}

function like(close: readonly Scored[]): string {
  return close.length === 0
    ? "There are no trajectories there yet; name the folder of your runs with --runs."
    : `An id is run/stage/task/sample. Ids like it: ${close.map(({ id }) => id).join(", ")}.`;
}

function notFound(wanted: string, hint: string): EverturnError {
  return new EverturnError("TRAJECTORY_NOT_FOUND", { trajectory: wanted, hint });
}
