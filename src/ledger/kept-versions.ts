import type { Plan } from "../contracts/plan.ts";

/** Versions kept beside the checkpoints: the newest ones, which a resumed run may start from. */
const newest = 3;

/** The version that reinforcement learning starts from, and that the KL term refers to. */
export function firstVersion(plan: Pick<Plan, "warmStart">): number {
  return plan.warmStart === undefined ? 0 : 1;
}

/** Whether the folders of `version` stay once version `current` is recorded: checkpoints, and the newest versions. */
export function isKept(
  plan: Pick<Plan, "warmStart" | "checkpoints">,
  version: number,
  current: number,
): boolean {
  const first = firstVersion(plan);
  return version <= first || version > current - newest || (version - first) % plan.checkpoints.every === 0;
}
