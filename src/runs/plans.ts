import type { Plan } from "../contracts/plan.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { planRow } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/**
 * The plan that is in force, and which one it is, looking after the first `after`: a run has one when it is made, and one
 * more after each change. Undefined if there is none there. Throws RECORD_CORRUPT: no other says what it said.
 */
export async function newestPlan(
  store: Pick<Store, "read" | "has">,
  after = 0,
): Promise<{ plan: Plan; number: number } | undefined> {
  let newest: { plan: Plan; number: number } | undefined;
  for (let number = after + 1; await store.has(planRow(number)); number++) {
    const plan = await store.read(planRow(number));
    if (plan === undefined) {
      const { path } = planRow(number);
      throw new EverturnError("RECORD_CORRUPT", { file: path, reason: "its digest is another one's" });
    }
    newest = { plan, number };
  }
  return newest;
}
