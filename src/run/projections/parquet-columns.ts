/** The type of a column: text, a 32-bit integer, a 64-bit number, a Boolean, a point in time, or a list of them. */
export type ColumnType = "text" | "integer" | "number" | "truth" | "time" | "integers" | "numbers" | "calls";

/** A column of a step's Parquet file. docs/parquet.md documents them. */
export interface Column {
  type: ColumnType;
  /** The meaning of the value. Null if it does not apply. */
  description: string;
}

/** Columns that have the same value in all rows of a trajectory. */
export const trajectoryColumns = {
  trajectory: { type: "text", description: "its id: run/stage/task/sample" },
  run: { type: "text", description: "the run" },
  stage: { type: "text", description: "its purpose, for example step-0003" },
  step: { type: "integer", description: "the number of the step" },
  task: { type: "text", description: "the task's id in its data set" },
  sample: { type: "integer", description: "its index among the trajectories of the task" },
  trained_step: { type: "integer", description: "the step that trained on it; null if it was left out" },
  left_out_because: { type: "text", description: "the reason why no step trained on it" },
  outcome: {
    type: "text",
    description: "answered, done, turn-limit, token-limit, time-limit, invalid-limit or left-out",
  },
  reward: {
    type: "number",
    description: "its total reward: the weighted scores of the rewards, plus the rewards of tools",
  },
  turn_rewards: {
    type: "numbers",
    description: "the part of it that each turn earned from tools and rewards; null if no turn earned a part",
  },
  success: { type: "truth", description: "whether the reward manager considers it solved" },
  answer: { type: "text", description: "the last action's text, if it called no tool" },
  failure: { type: "text", description: "the failure, if the infrastructure ended it" },
  metrics: {
    type: "text",
    description: "JSON: metrics of rewards and tools by name, and the scores of several rewards",
  },
  turns: { type: "integer", description: "number of turns that count" },
  policy_versions: { type: "integers", description: "the policy version that generated each turn" },
  head: { type: "text", description: "SHA-256 of its last segment, which identifies the whole trajectory" },
  prompt_tokens: { type: "integer", description: "number of tokens of the prompt" },
  action_tokens: { type: "integer", description: "number of tokens that the policy sampled" },
  observation_tokens: { type: "integer", description: "number of tokens of observations" },
  started_at: { type: "time", description: "its start, UTC" },
  trajectory_seconds: { type: "number", description: "its duration in seconds" },
  task_json: { type: "text", description: "JSON: the whole task, including prompt and ground truth" },
  score_failures: { type: "text", description: "JSON: failed scores with time, attempt and reason" },
} as const satisfies Record<string, Column>;

/** Columns about the row's own segment, which is a sequence of tokens of one origin. */
export const segmentColumns = {
  turn: {
    type: "integer",
    description: "the turn, counting from 1; null in the only row of a trajectory without turns",
  },
  origin: { type: "text", description: "prompt, action or observation" },
  text: { type: "text", description: "the tokens as text, for readers" },
  tokens: { type: "integers", description: "token ids, exactly as sampled or framed" },
  mask: { type: "integer", description: "the loss mask of these tokens: 1 in actions, 0 elsewhere" },
  logprobs: {
    type: "numbers",
    description: "log-probabilities of an action's tokens, in nats at temperature 1",
  },
  tempered_logprobs: {
    type: "numbers",
    description: "the same at the sampling temperature, if it is neither 1 nor 0",
  },
  sampling_logprobs: {
    type: "numbers",
    description:
      "the same in the distribution that they were drawn from, if it was restricted (top-p, a grammar)",
  },
  router_ties: {
    type: "integers",
    description:
      "near-tie routing choices of a mixture of experts, three numbers each: the token's position in its row, the layer, the last chosen expert; absent in older files",
  },
  policy_version: { type: "integer", description: "the version that sampled the action" },
  segment: { type: "text", description: "SHA-256 of the action's segment, which is its name" },
  follows_turn: {
    type: "integer",
    description: "for a prompt or an observation, the turn whose action it follows; null at the start",
  },
  said: { type: "text", description: "JSON: messages that people sent before the action" },
  request: {
    type: "text",
    description: "JSON: the agent's request that the action answers",
  },
  cut_observations: {
    type: "integer",
    description:
      "for an observation, the number of tool answers that were cut at their token limit; null if none was cut, absent in older files",
  },
  finish_reason: { type: "text", description: "for an action, stop, or length if it was cut" },
  turn_seconds: { type: "number", description: "the action's duration in seconds, including waits" },
  work_seconds: { type: "number", description: "the part of it in which the policy worked" },
  calls_begun: {
    type: "integer",
    description: "number of tool calls that the action started, answered or not",
  },
  calls: {
    type: "calls",
    description: "calls that were answered or failed: a list of structures, see below",
  },
  exact: {
    type: "text",
    description:
      "JSON of all records of the trajectory, in its first row, if the columns cannot represent it exactly (for example, half a character in an observation); usually null",
  },
} as const satisfies Record<string, Column>;

/** Fields of a tool call. */
export const callColumns = {
  call: { type: "integer", description: "its index in the turn, counting from 0" },
  tool: { type: "text", description: "the tool's name, as the policy wrote it" },
  arguments: { type: "text", description: "JSON: its arguments; a string if they could not be parsed" },
  observation: {
    type: "text",
    description: "the answer that the policy received; null if the call was never answered",
  },
  valid: {
    type: "truth",
    description:
      "whether it could be parsed, named a tool, matched its parameters, and was allowed by the tool",
  },
  invalid: { type: "text", description: "the reason why the tool rejected it" },
  media: {
    type: "text",
    description:
      "JSON: images and videos of the observation, with their SHA-256 in the run's `bytes/`, media type, size, width and height",
  },
  whole: { type: "text", description: "SHA-256 of the whole observation in `bytes/`, if it was cut" },
  done: { type: "truth", description: "whether the tool ended the trajectory" },
  approval: {
    type: "text",
    description: "the result, if it waited for a person: approved, edited, answered, denied, timed-out",
  },
  reward: { type: "number", description: "the reward that the tool added" },
  attempts: { type: "integer", description: "number of attempts; 0 if no tool was called" },
  seconds: { type: "number", description: "duration in seconds of the execution that answered" },
  metrics: { type: "text", description: "JSON: the tool's metrics by name" },
  snapshot: {
    type: "text",
    description: "SHA-256 of the tool's state after the call, in the run's `bytes/`",
  },
  failures: { type: "text", description: "JSON: failed executions with time, attempt and reason" },
} as const satisfies Record<string, Column>;

/** All columns of a step's file, in order. */
export const columns: Record<string, Column> = { ...trajectoryColumns, ...segmentColumns };
