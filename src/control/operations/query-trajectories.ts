import { openTrajectoryTable, type Query } from "../../results/table/open-query.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type ListedTrajectory, listedColumns, listedRow } from "../../run/projections/listed-trajectory.ts";
import type { TrajectoryFilter } from "./list-trajectories.ts";

/**
 * The finished trajectories of a run that match a condition and a filter, in order. Throws QUERY_INVALID and
 * QUERY_DRIVER_MISSING.
 */
export async function queryTrajectories(
  run: OpenRun,
  query: Query,
  filter: TrajectoryFilter = {},
): Promise<{ rows: ListedTrajectory[]; total: number }> {
  const table = await openTrajectoryTable(run);
  try {
    const { rows, total } = await table.ask({ ...query, only: conditions(filter) }, listedColumns);
    return { rows: rows.map(listedRow), total };
  } finally {
    table.close();
  }
}

/** A filter's conditions in SQL. */
export function conditions({ stage, task, outcome, minReward, maxReward, tool }: TrajectoryFilter): string[] {
  return [
    stage === undefined ? undefined : `stage = ${literal(stage)}`,
    task === undefined ? undefined : `task = ${literal(task)}`,
    outcome === undefined ? undefined : `outcome = ${literal(outcome)}`,
    minReward === undefined ? undefined : `reward >= ${minReward}`,
    maxReward === undefined ? undefined : `reward <= ${maxReward}`,
    tool === undefined ? undefined : `list_contains(tools, ${literal(tool)})`,
  ].filter((condition) => condition !== undefined);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
