import type { Plan } from "../../contracts/plan.ts";
import { valuesSoFar } from "../../run/folder/values-so-far.ts";

/** The largest staleness allowed since the run began, in steps. */
export function largestStaleness(plan: Pick<Plan, "rollout" | "changes">): number {
  return Math.max(...valuesSoFar(plan, "rollout.staleness", plan.rollout.staleness ?? 0));
}
