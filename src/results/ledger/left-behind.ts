import type { LeftOut } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { readReservations, reservedTrajectories } from "./reservations.ts";

const earlier = "an earlier try of the step drew it, which did not get to train";

/** Whether `leftBehind` left out a trajectory: the attempt that trained was not offered it. */
export function isLeftBehind(trajectory: LeftOut): boolean {
  return trajectory.reason === earlier;
}

/**
 * The trajectories reserved for a synchronous step that it was not `offered`: a failed attempt drew them as
 * replacements, but the attempt that trained needed others. Each gets the `reason`. Empty in asynchronous runs,
 * where a later step may still train on them.
 */
export async function leftBehind(
  { id, plan, store }: OpenRun,
  offered: readonly { trajectory: string }[],
  reason = earlier,
): Promise<LeftOut[]> {
  if ((plan.rollout.staleness ?? 0) > 0) return [];
  const known = new Set(offered.map(({ trajectory }) => trajectory));
  const stages = new Set(offered.map(({ trajectory }) => trajectoryOf(trajectory).stage));
  const reservations = await Promise.all([...stages].map((stage) => readReservations(store, stage)));
  const reserved = reservedTrajectories(id, reservations.flat());
  const left = new Set(reserved.filter((trajectory) => !known.has(trajectory)));
  return [...left].sort().map((trajectory) => ({ trajectory, reason }));
}
