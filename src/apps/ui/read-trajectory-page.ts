import { isEverturnError } from "../../base/errors/everturn-error.ts";
import type { Transcript } from "../../contracts/orders.ts";
import { withLiveRun } from "../../control/supervision/run-client.ts";
import { askTranscript } from "../../control/temporal/live-trajectories.ts";
import { readTrajectory } from "../../results/report/read-trajectory.ts";
import type { TrajectoryDetail } from "../../run/projections/trajectory-detail.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import { findTrajectory } from "../../run/trajectory/find-trajectory.ts";
import { type RecordReader, trajectoryReader } from "../../run/trajectory/reader.ts";
import { type Member, rewardsOf } from "./ended-trajectories.ts";
import type { ShownRun, UiContext } from "./ui-context.ts";

/** The content of a trajectory's page. */
export interface DetailPage {
  id: string;
  name: TrajectoryName;
  /** Reads more of its run's records. */
  reader: RecordReader;
  detail: TrajectoryDetail;
  /** Its workflow's transcript while it is in progress. */
  live?: Transcript;
  /** Why that is unknown. */
  silent?: string;
}

/** Reads a trajectory, finished or in progress. Throws TRAJECTORY_NOT_FOUND. */
export async function shownTrajectory(
  { runs }: UiContext,
  run: ShownRun,
  name: TrajectoryName,
): Promise<DetailPage> {
  const id = [run.id, name.stage, name.task, name.sample].join("/");
  const reader = trajectoryReader(run);
  const detail = await readTrajectory(reader, { ...name, id });
  const shown = { id, name, reader, detail };
  if (detail.record !== undefined) return shown;
  try {
    const live = await withLiveRun({ runs, run: run.id }, (client) => askTranscript(client, id));
    return { ...shown, live };
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    if (detail.segments.length === 0) await findTrajectory(runs, id, run);
    return { ...shown, silent: error.message };
  }
}

/**
 * A trajectory's reward minus the mean of its group (the trajectories of one step and task that count), before a
 * trainer processes it; undefined if it was in no group.
 */
export function groupAdvantage(
  { name: { stage }, detail: { record } }: DetailPage,
  group: readonly Member[],
): number | undefined {
  if (record === undefined || record.outcome === "left-out" || !stage.startsWith("step-")) return undefined;
  const rewards = rewardsOf(group);
  if (rewards.length < 2) return undefined;
  return record.reward - rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}
