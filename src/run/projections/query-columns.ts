/** A column for conditions. */
export interface QueryColumn {
  /** Its type in DuckDB's notation. */
  type: string;
  description: string;
  /**
   * The expression that reads it from a trajectory's rows in a step's file. Absent for `tool`, which comes from
   * `called` in the file's record.
   */
  folded?: string;
}

/** The columns of trajectories in order, as conditions use them and docs/trajectories.md lists them. */
export const queryColumns = {
  trajectory: column("VARCHAR", "its id: run/stage/task/sample", "trajectory"),
  stage: column(
    "VARCHAR",
    "the step or evaluation that it belongs to: step-0003, evaluation-v0010",
    "any_value(stage)",
  ),
  step: column("INTEGER", "the number of that step", "any_value(step)"),
  task: column(
    "VARCHAR",
    "the task's id; trajectories of one stage and task form a group",
    "any_value(task)",
  ),
  sample: column("INTEGER", "its number among the trajectories of the task", "any_value(sample)"),
  version: column("INTEGER", "the policy version of its last turn", "any_value(policy_versions[-1])"),
  outcome: column("VARCHAR", "answered, turn-limit, left-out …", "any_value(outcome)"),
  reward: column("DOUBLE", "its total reward", "any_value(reward)"),
  success: column("BOOLEAN", "whether the reward counts it as solved", "any_value(success)"),
  metrics: column(
    "MAP(VARCHAR, DOUBLE)",
    "the parts of the reward, and the metrics of rewards and tools: metrics['format']",
    `from_json(any_value(metrics), '"MAP(VARCHAR, DOUBLE)"')`,
  ),
  turns: column("INTEGER", "its number of turns", "any_value(turns)"),
  tool_calls: column("INTEGER", "its number of answered tool calls"),
  tool: column("VARCHAR", "the tools that it called, joined by “, ”"),
  tools: column("VARCHAR[]", "the same as a list: list_has(tools, 'python')"),
  tokens: column(
    "INTEGER",
    "tokens of the prompt, actions and observations",
    "any_value(prompt_tokens) + any_value(action_tokens) + any_value(observation_tokens)",
  ),
  prompt_tokens: column("INTEGER", "tokens of the prompt", "any_value(prompt_tokens)"),
  action_tokens: column("INTEGER", "tokens that the policy sampled", "any_value(action_tokens)"),
  observation_tokens: column("INTEGER", "tokens of observations", "any_value(observation_tokens)"),
  answer: column("VARCHAR", "the last action's text, if it called no tool", "any_value(answer)"),
  failure: column("VARCHAR", "why it was left out", "any_value(failure)"),
  started: column("TIMESTAMP", "when it began, UTC", "any_value(started_at)"),
  seconds: column("DOUBLE", "how long it took", "any_value(trajectory_seconds)"),
} as const satisfies Record<string, QueryColumn>;

/** The name of a column. */
export type QueryColumnName = keyof typeof queryColumns;

function column(type: string, description: string, folded?: string): QueryColumn {
  return folded === undefined ? { type, description } : { type, description, folded };
}
