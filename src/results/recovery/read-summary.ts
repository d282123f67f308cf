import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { TrajectorySummary } from "../../contracts/rollout.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { leftOutSummary, recordSummary } from "../../run/projections/trajectory-summary.ts";
import { type TrajectoryName, turnKey } from "../../run/store/keys.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";

/** A run, as far as what is read of its trajectories. */
export interface SummarizedRun {
  plan: OpenRun["plan"];
  store: Pick<OpenRun["store"], "read">;
}

/** What a step keeps of a trajectory that has ended, by its record. One that was terminated may have none. */
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

/** The same of a record; `from` is the version of one without a turn. */
export async function summaryOf(
  run: SummarizedRun,
  from: number,
  record: Trajectory,
): Promise<TrajectorySummary> {
  const seconds = await secondsOf(run, trajectoryOf(record.id), record.turns.length);
  return recordSummary(run.plan, record, { policyVersion: from, seconds });
}

/** How long the first `turns` turns took to generate. */
async function secondsOf({ store }: SummarizedRun, place: TrajectoryName, turns: number): Promise<number> {
  let total = 0;
  for (let turn = 1; turn <= turns; turn++) total += (await store.read(turnKey(place, turn)))?.seconds ?? 0;
  return total;
}
