import type { Plan } from "../../contracts/plan.ts";

/** The version that reinforcement learning starts from and that the KL term refers to. */
export function firstVersion(plan: Pick<Plan, "warmStart">): number {
  return plan.warmStart === undefined ? 0 : 1;
}
