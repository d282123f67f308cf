import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { finishedTrajectory } from "./finished-trajectory.ts";
import type { QueryColumnName } from "./query-columns.ts";

/** A row's value before it is in the table. */
type Value = string | number | boolean | null | string[] | Record<string, number>;

/** A row of the query table. */
export type QueryRow = Record<QueryColumnName, Value>;

/** The row of a trajectory with a single record. */
export function queryRow(record: Trajectory): QueryRow {
  const { toolCalls, tools } = finishedTrajectory(record);
  const { prompt, action, observation } = record.tokens;
  const { stage, step, sample, outcome, reward, success, seconds } = record;
  return {
    trajectory: record.id,
    stage,
    step,
    task: record.taskId,
    sample,
    outcome,
    reward,
    success,
    seconds,
    version: record.policyVersions.at(-1) ?? null,
    metrics: record.metrics === undefined ? null : wellNamed(record.metrics),
    turns: record.policyVersions.length,
    tool_calls: toolCalls,
    tool: tools.toSorted().join(", "),
    tools: tools.toSorted(),
    tokens: prompt + action + observation,
    prompt_tokens: prompt,
    action_tokens: action,
    observation_tokens: observation,
    answer: record.answer ?? null,
    failure: record.failure ?? null,
    started: record.startedAt ?? null,
  };
}

/** Replaces unpaired surrogates, which DuckDB rejects, in names of tools' metrics. */
function wellNamed(metrics: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name.toWellFormed(), value]));
}
