import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Notice } from "../../base/processes/notice.ts";
import type { Plan } from "../../contracts/plan.ts";
import { planRow } from "../store/keys.ts";
import { openRunStore } from "../store/open-run-store.ts";
import type { Store } from "../store/store.ts";
import { withMovedPlugins } from "./moved-plugins.ts";
import { isRun, readRunFile } from "./run-file.ts";
import { placeRun, type RunFolder, runFolder } from "./run-folder.ts";

/** A run as an activity sees it. */
export interface OpenRun {
  id: string;
  folder: RunFolder;
  plan: Plan;
  store: Store;
}

/** For how long a run outside of its folder is taken to have the same plan, in ms: each look is a request. */
const usualPlanAge = 1000;

/**
 * Opens runs of the folder `runs` by id, each only once. Each call checks whether the plan has changed, by the key
 * of the next plan; in a store other than the folder only if the last check is `planAge` ms old. Throws RUN_NOT_FOUND,
 * RUN_PLAN_LOST and RECORD_CORRUPT.
 */
export function openRuns(runs: string, planAge = usualPlanAge): (run: string) => Promise<OpenRun> {
  const opened = sharedPromises<CountedRun>();
  return async (id) => {
    const known = await opened.get(id, () => openCounted(runs, id));
    const now = performance.now();
    if (known.isElsewhere && now - known.lookedAt < planAge) return known.run;
    known.lookedAt = now;
    const later = await newestPlan(known.run, known.plans);
    if (later !== undefined) {
      known.run = { ...known.run, plan: later.plan };
      known.plans = later.number;
    }
    return known.run;
  };
}

/**
 * Opens one run. Unreadable records that count as absent are reported, by default on standard error. Throws
 * RUN_NOT_FOUND, RUN_PLAN_LOST and RECORD_CORRUPT.
 */
export async function openRunFolder(
  runs: string,
  run: string,
  tell?: (notice: Notice) => void,
): Promise<OpenRun> {
  return (await openCounted(runs, run, tell)).run;
}

/** A run with its number of plans. */
interface CountedRun {
  run: OpenRun;
  plans: number;
  /** When this process last looked for another plan, in ms since it started. */
  lookedAt: number;
  /** Whether the store is not the run's folder. */
  isElsewhere: boolean;
}

async function openCounted(
  runs: string,
  named: string,
  tell?: (notice: Notice) => void,
): Promise<CountedRun> {
  const folder = runFolder(runs, named);
  const { run: id, store: address } = await readRunFile(runs, named, tell);
  const lookedAt = performance.now();
  if (id !== named && !isRun(runs, id)) placeRun(runs, id, named); // it was renamed
  const store = openRunStore(folder.root, tell);
  const newest = await newestPlan({ id, folder, store });
  if (newest === undefined) throw planLost({ id, folder }, 1);
  const run = { id, folder, plan: newest.plan, store };
  return { run, plans: newest.number, lookedAt, isElsewhere: address !== undefined };
}

/** A run before its plan is read. */
interface PlannedRun {
  id: string;
  folder: Pick<RunFolder, "root">;
  store: Pick<Store, "read" | "has">;
}

/**
 * The current plan and its number, searching after the first `after` plans. A run has one plan when it is created,
 * and one more after each change. Undefined if there is none after `after`. Throws RUN_PLAN_LOST for an unreadable
 * one.
 */
async function newestPlan(run: PlannedRun, after = 0): Promise<{ plan: Plan; number: number } | undefined> {
  const { store } = run;
  let newest: { plan: Plan; number: number } | undefined;
  for (let number = after + 1; await store.has(planRow(number)); number++) {
    const plan = await store.read(planRow(number));
    if (plan === undefined) throw planLost(run, number);
    newest = { plan, number };
  }
  return newest && { ...newest, plan: withMovedPlugins(newest.plan) };
}

/** The error RUN_PLAN_LOST for a run's plan with this number. */
function planLost({ id, folder }: Omit<PlannedRun, "store">, number: number): EverturnError {
  return new EverturnError("RUN_PLAN_LOST", { run: id, file: planRow(number).path, folder: folder.root });
}
