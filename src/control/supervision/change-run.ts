import type { Plan, PlanChange } from "../../contracts/plan.ts";
import { stepOf } from "../../contracts/stages.ts";
import { changePlan } from "../../plan/pipeline/change-plan.ts";
import { readStepReservations } from "../../results/ledger/reservations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { planRow } from "../../run/store/keys.ts";
import { addToRow } from "../../run/store/row.ts";

/**
 * Changes the plan of a run that this process holds, and records the change in it; undefined if nothing is other than it
 * was. Throws OVERRIDE_INVALID, WRONG_CONFIGURATION, and after a second at most DISK_FULL, STORE_NOT_WRITABLE.
 */
export async function changeRun(
  { plan: known, store }: Pick<OpenRun, "plan" | "store">,
  overrides: readonly string[],
): Promise<PlanChange | undefined> {
  const recorded = (await lastRecordedStep(store))?.step ?? 0;
  const reserved = await readStepReservations(store, known, recorded + 1);
  const admitted = reserved.map(({ stage }) => stepOf(stage) ?? 0);
  const begun = admitted.reduce((most, step) => Math.max(most, step), recorded);
  let change: PlanChange | undefined;
  const changed = (plans: readonly Plan[]) => {
    const { plan, changed } = changePlan(plans.at(-1) ?? known, overrides, begun);
    change = changed.length === 0 ? undefined : { at: new Date().toISOString(), step: recorded, changed };
    return change && { ...plan, changes: [...(plan.changes ?? []), change] };
  };
  await addToRow(store, planRow, changed, { waits: false });
  return change;
}
