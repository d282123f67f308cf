import type { Plan } from "../../contracts/plan.ts";
import { valuesSoFar } from "../../run/folder/values-so-far.ts";

/** The most steps that a trajectory may have been behind since the run began. */
export function largestStaleness(plan: Pick<Plan, "rollout" | "changes">): number {
  return Math.max(...valuesSoFar(plan, "rollout.staleness", plan.rollout.staleness ?? 0));
}
