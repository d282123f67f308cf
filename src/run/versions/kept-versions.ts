import type { Plan } from "../../contracts/plan.ts";
import { firstVersion } from "./first-version.ts";

/** Versions kept beside the checkpoints: the newest ones, which a resumed run may start from. */
const newest = 3;

/** Whether the folders of `version` stay once version `current` is recorded: checkpoints, and the newest versions. */
export function isKept(
  plan: Pick<Plan, "warmStart" | "checkpoints" | "changes">,
  version: number,
  current: number,
): boolean {
  const step = version - firstVersion(plan);
  if (step <= 0 || version > current - newest) return true;
  return intervalsSince(plan, step).every((every) => step % every === 0);
}

/** The steps between checkpoints that have been in force since a step was taken: it is kept if it was for all of them. */
function intervalsSince({ checkpoints, changes = [] }: Pick<Plan, "checkpoints" | "changes">, step: number) {
  const later = changes.filter((change) => change.step >= step).flatMap(({ changed }) => changed);
  const earlier = later.filter(({ key }) => key === "checkpoints.every").map(({ from }) => Number(from));
  return [...earlier, checkpoints.every];
}
