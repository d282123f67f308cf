import { ahead } from "../../base/async/ahead.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type ListedTrajectory, listedTrajectory } from "../../run/projections/listed-trajectory.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";

/** Selects finished trajectories. Default: all. */
export interface TrajectoryFilter {
  /** One step or evaluation, such as `step-0003` or `evaluation-v0001`. */
  stage?: string | undefined;
  /** One task, such as `task-00012`. */
  task?: string | undefined;
  outcome?: Trajectory["outcome"] | undefined;
  minReward?: number | undefined;
  maxReward?: number | undefined;
  /** Only trajectories that called this tool. */
  tool?: string | undefined;
}

/** Trajectories that are read at once. */
const together = 32;

/** The matching finished trajectories of a run, in the order of their stages. Each is read on demand. */
export async function* listTrajectories(
  run: OpenRun,
  filter: TrajectoryFilter = {},
): AsyncGenerator<ListedTrajectory> {
  const reader = trajectoryReader(run);
  for await (const { items } of reader.stages(filter)) {
    const finished = ahead(items, together, async (name) => ({ name, ended: await reader.finished(name) }));
    for await (const { name, ended } of finished) {
      if (ended === undefined || !matches(ended, filter)) continue;
      yield listedTrajectory(trajectoryId({ ...name, run: run.id }), ended);
    }
  }
}

function matches(
  { outcome: ended, reward, tools }: FinishedTrajectory,
  { outcome, minReward, maxReward, tool }: TrajectoryFilter,
): boolean {
  return (
    (outcome === undefined || ended === outcome) &&
    (minReward === undefined || reward >= minReward) &&
    (maxReward === undefined || reward <= maxReward) &&
    (tool === undefined || tools.includes(tool))
  );
}
