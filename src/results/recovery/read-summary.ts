import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { TrajectorySummary } from "../../contracts/rollout.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { leftOutSummary, recordSummary } from "../../run/projections/trajectory-summary.ts";
import { type TrajectoryName, turnKey } from "../../run/store/keys.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";

/** The parts of a run that reading its trajectories needs. */
export interface SummarizedRun {
  plan: OpenRun["plan"];
  store: Pick<OpenRun["store"], "read">;
}

/** A step's summary of an ended trajectory, from its record. One that was terminated may have no record. */
export async function readSummary(
  run: SummarizedRun,
  trajectory: string,
  policyVersion: number,
): Promise<TrajectorySummary> {
  const record = await readTrajectoryRecord(run.store, trajectoryOf(trajectory));
  return record === undefined
    ? leftOutSummary(trajectory, "terminated")
    : summaryOf(run, policyVersion, record);
}

/** The same from a record. `from` is the version of one without turns. */
export async function summaryOf(
  run: SummarizedRun,
  from: number,
  record: Trajectory,
): Promise<TrajectorySummary> {
  const seconds = await secondsOf(run, trajectoryOf(record.id), record.turns.length);
  return recordSummary(run.plan, record, { policyVersion: from, seconds });
}

/** How long the first `turns` turns took to generate, in seconds. */
async function secondsOf({ store }: SummarizedRun, place: TrajectoryName, turns: number): Promise<number> {
  let total = 0;
  for (let turn = 1; turn <= turns; turn++) total += (await store.read(turnKey(place, turn)))?.seconds ?? 0;
  return total;
}
