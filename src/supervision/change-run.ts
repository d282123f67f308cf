import type { PlanChange } from "../contracts/plan.ts";
import { stepOf } from "../contracts/stages.ts";
import { writeWhole } from "../files/whole-files.ts";
import { readStepReservations } from "../ledger/reservations.ts";
import { changePlan } from "../pipeline/change-plan.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { lastRecordedStep } from "../runs/recorded-steps.ts";

/**
 * Changes the plan of a run that this process holds, and records the change in it; undefined if nothing is other than it
 * was. Throws OVERRIDE_INVALID, WRONG_CONFIGURATION.
 */
export async function changeRun(
  { folder, plan, store }: Pick<OpenRun, "folder" | "plan" | "store">,
  overrides: readonly string[],
): Promise<PlanChange | undefined> {
  const recorded = (await lastRecordedStep(store))?.step ?? 0;
  const reserved = await readStepReservations(store, plan, recorded + 1);
  const admitted = reserved.map(({ stage }) => stepOf(stage) ?? 0);
  const begun = admitted.reduce((most, step) => Math.max(most, step), recorded);
  const { plan: next, changed } = changePlan(plan, overrides, begun);
  if (changed.length === 0) return undefined;
  const change: PlanChange = { at: new Date().toISOString(), step: recorded, changed };
  const content = { ...next, changes: [...(plan.changes ?? []), change] };
  await writeWhole(folder.plan, `${JSON.stringify(content, null, 2)}\n`);
  return change;
}
