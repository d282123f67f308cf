import type { Plan, PlanChange } from "../../contracts/plan.ts";
import { stepOf } from "../../contracts/stages.ts";
import { changePlan } from "../../plan/pipeline/change-plan.ts";
import { readStepReservations } from "../../results/ledger/reservations.ts";
import { withMovedPlugins } from "../../run/folder/moved-plugins.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { planRow } from "../../run/store/keys.ts";
import { addToRow } from "../../run/store/row.ts";

/**
 * Changes the plan of a run that this process holds and records the change in it. Returns the new plan with the
 * change, or undefined if nothing differs. Throws OVERRIDE_INVALID and WRONG_CONFIGURATION, and after at most a
 * second DISK_FULL and STORE_NOT_WRITABLE.
 */
export async function changeRun(
  { plan: known, store }: Pick<OpenRun, "plan" | "store">,
  overrides: readonly string[],
): Promise<{ plan: Plan; change: PlanChange } | undefined> {
  const recorded = (await lastRecordedStep(store))?.step ?? 0;
  const reserved = await readStepReservations(store, known, recorded + 1);
  const admitted = reserved.map(({ stage }) => stepOf(stage) ?? 0);
  const begun = admitted.reduce((most, step) => Math.max(most, step), recorded);
  let result: { plan: Plan; change: PlanChange } | undefined;
  const changedPlan = (plans: readonly Plan[]) => {
    const { plan, changed } = changePlan(withMovedPlugins(plans.at(-1) ?? known), overrides, begun);
    result = undefined;
    if (changed.length === 0) return undefined;
    const change = { at: new Date().toISOString(), step: recorded, changed };
    result = { plan: { ...plan, changes: [...(plan.changes ?? []), change] }, change };
    return result.plan;
  };
  await addToRow(store, planRow, changedPlan, { waits: false });
  return result;
}
