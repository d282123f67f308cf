import { outcomes } from "../../contracts/outcomes.ts";
import { openTrajectoryTable, type Query } from "../../results/table/open-query.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { ListedTrajectory, TrajectoryFilter } from "./list-trajectories.ts";

const columns = [
  "trajectory",
  "outcome",
  "reward",
  "success",
  "turns",
  "tool_calls",
  "tokens",
  "seconds",
] as const;

/** The finished trajectories of a run that a condition and a filter find, in order. Throws QUERY_INVALID, QUERY_DRIVER_MISSING. */
export async function queryTrajectories(
  run: OpenRun,
  query: Query,
  filter: TrajectoryFilter = {},
): Promise<{ rows: ListedTrajectory[]; total: number }> {
  const table = await openTrajectoryTable(run);
  try {
    const { rows, total } = await table.ask({ ...query, only: conditions(filter) }, columns);
    return { rows: rows.map(listed), total };
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

function listed(values: readonly unknown[]): ListedTrajectory {
  const [id, outcome, reward, success, turns, toolCalls, tokens, seconds] = values;
  if (!isOutcome(outcome)) throw new Error(`A trajectory ended in a way that is unknown: ${outcome}.`);
  return {
    id: String(id),
    outcome,
    reward: Number(reward),
    success: success === true,
    turns: Number(turns),
    toolCalls: Number(toolCalls),
    tokens: Number(tokens),
    seconds: Number(seconds),
  };
}

function isOutcome(value: unknown): value is ListedTrajectory["outcome"] {
  return typeof value === "string" && Object.hasOwn(outcomes, value);
}
