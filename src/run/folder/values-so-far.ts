import type { Plan } from "../../contracts/plan.ts";

/** All numbers that a key of the plan has had since the run began, in order. `current` is the present one. */
export function valuesSoFar({ changes = [] }: Pick<Plan, "changes">, key: string, current: number): number[] {
  const changed = changes.flatMap((change) => change.changed.filter((one) => one.key === key));
  return [...changed.map(({ from }) => Number(from)), current];
}
