import type { Plan } from "../../contracts/plan.ts";
import { firstVersion } from "./first-version.ts";

/** Versions kept in addition to checkpoints: the newest ones, from which a resumed run may start. */
const newest = 3;

/**
 * Whether the folders of `version` stay once version `current` is recorded: checkpoints and the newest versions do.
 */
export function isKept(
  plan: Pick<Plan, "warmStart" | "checkpoints" | "changes">,
  version: number,
  current: number,
): boolean {
  const step = version - firstVersion(plan);
  if (step <= 0 || version > current - newest) return true;
  return intervalsSince(plan, step).every((every) => step % every === 0);
}

/** The checkpoint intervals in force since a step was taken. The step is kept only if all of them include it. */
function intervalsSince({ checkpoints, changes = [] }: Pick<Plan, "checkpoints" | "changes">, step: number) {
  const later = changes.filter((change) => change.step >= step).flatMap(({ changed }) => changed);
  const earlier = later.filter(({ key }) => key === "checkpoints.every").map(({ from }) => Number(from));
  return [...earlier, checkpoints.every];
}
