import { sharedPromises } from "../../base/async/shared-promises.ts";
import type { Notice } from "../../base/processes/notice.ts";
import type { Plan } from "../../contracts/plan.ts";
import { openRunStore } from "../store/open-run-store.ts";
import type { Store } from "../store/store.ts";
import { newestPlan, planLost } from "./plans.ts";
import { isRun, readRunFile } from "./run-file.ts";
import { placeRun, type RunFolder, runFolder } from "./run-folder.ts";

/** A run as an activity sees it. */
export interface OpenRun {
  id: string;
  folder: RunFolder;
  plan: Plan;
  store: Store;
}

/**
 * Opens runs of the folder `runs` by id, each once. Whether the plan was changed is asked each time, by the key that
 * the next one would have. Throws RUN_NOT_FOUND, RUN_PLAN_LOST, RECORD_CORRUPT.
 */
export function openRuns(runs: string): (run: string) => Promise<OpenRun> {
  const opened = sharedPromises<{ run: OpenRun; plans: number }>();
  return async (id) => {
    const known = await opened.get(id, () => openCounted(runs, id));
    const later = await newestPlan(known.run, known.plans);
    if (later !== undefined) {
      known.run = { ...known.run, plan: later.plan };
      known.plans = later.number;
    }
    return known.run;
  };
}

/**
 * Opens one run. What can't be read of it and counts as absent is told, by default on standard error. Throws
 * RUN_NOT_FOUND, RUN_PLAN_LOST, RECORD_CORRUPT.
 */
export async function openRun(runs: string, run: string, tell?: (notice: Notice) => void): Promise<OpenRun> {
  return (await openCounted(runs, run, tell)).run;
}

/** A run with the number of its plans. */
async function openCounted(
  runs: string,
  named: string,
  tell?: (notice: Notice) => void,
): Promise<{ run: OpenRun; plans: number }> {
  const folder = runFolder(runs, named);
  const { run: id } = await readRunFile(runs, named, tell);
  if (id !== named && !isRun(runs, id)) placeRun(runs, id, named); // it was renamed
  const store = openRunStore(folder.root, tell);
  const newest = await newestPlan({ id, folder, store });
  if (newest === undefined) throw planLost({ id, folder }, 1);
  return { run: { id, folder, plan: newest.plan, store }, plans: newest.number };
}
