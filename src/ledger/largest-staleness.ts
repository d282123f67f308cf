import type { Plan } from "../contracts/plan.ts";

/** The most steps that a trajectory may have been behind since the run began. */
export function largestStaleness({ rollout, changes = [] }: Pick<Plan, "rollout" | "changes">): number {
  const earlier = changes.flatMap(({ changed }) => changed.filter(({ key }) => key === "rollout.staleness"));
  return Math.max(rollout.staleness ?? 0, ...earlier.map(({ from }) => Number(from)));
}
