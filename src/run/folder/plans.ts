import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Plan } from "../../contracts/plan.ts";
import { planRow } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import type { RunFolder } from "./run-folder.ts";

/** A run whose plan is not known yet. */
interface PlannedRun {
  id: string;
  folder: Pick<RunFolder, "root">;
  store: Pick<Store, "read" | "has">;
}

/**
 * The plan that is in force, and which one it is, looking after the first `after`: a run has one when it is made, and one
 * more after each change. Undefined if there is none there. Throws RUN_PLAN_LOST for one that can't be read.
 */
export async function newestPlan(
  run: PlannedRun,
  after = 0,
): Promise<{ plan: Plan; number: number } | undefined> {
  const { store } = run;
  let newest: { plan: Plan; number: number } | undefined;
  for (let number = after + 1; await store.has(planRow(number)); number++) {
    const plan = await store.read(planRow(number));
    if (plan === undefined) throw planLost(run, number);
    newest = { plan, number };
  }
  return newest;
}

/** The error RUN_PLAN_LOST of a run's plan of this number. */
export function planLost({ id, folder }: Omit<PlannedRun, "store">, number: number): EverturnError {
  return new EverturnError("RUN_PLAN_LOST", { run: id, file: planRow(number).path, folder: folder.root });
}
