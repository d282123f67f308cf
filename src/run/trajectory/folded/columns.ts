/** How a column's values are kept: text, a whole number of 32 bits, a number of 64 bits, a point in time, lists of them. */
export type ColumnType = "text" | "integer" | "number" | "truth" | "time" | "integers" | "numbers" | "calls";

/** A column of a step's Parquet file, as docs/parquet.md documents it. */
export interface Column {
  type: ColumnType;
  /** Null where it says nothing. */
  description: string;
}

/** What is the same in all rows of a trajectory. */
export const trajectoryColumns = {
  trajectory: { type: "text", description: "its id: run/stage/task/sample" },
  run: { type: "text", description: "the run" },
  stage: { type: "text", description: "what it was made for: step-0003" },
  step: { type: "integer", description: "the number of that step" },
  task: { type: "text", description: "the task's id in its data set" },
  sample: { type: "integer", description: "its number among the trajectories of the task" },
  trained_step: { type: "integer", description: "the step that trained on it; null: it was left out" },
  left_out_because: { type: "text", description: "why no step trained on it" },
  outcome: {
    type: "text",
    description: "answered, done, turn-limit, token-limit, time-limit, invalid-limit or left-out",
  },
  reward: {
    type: "number",
    description: "all that it earned: the rewards' scores by their weights, and the tools' rewards",
  },
  turn_rewards: {
    type: "numbers",
    description: "of it, what each turn earned, by its tools and as the rewards say; null if none said so",
  },
  success: { type: "truth", description: "whether the reward manager counts it as solved" },
  answer: { type: "text", description: "the last action's text, if it called no tool" },
  failure: { type: "text", description: "what failed, of one that its infrastructure ended" },
  metrics: {
    type: "text",
    description: "JSON: what the rewards and the tools measured, by name, and each of several rewards",
  },
  turns: { type: "integer", description: "how many turns count" },
  policy_versions: { type: "integers", description: "the version that generated each turn" },
  head: { type: "text", description: "SHA-256 of its last segment, which stands for the whole trajectory" },
  prompt_tokens: { type: "integer", description: "tokens of its prompt" },
  action_tokens: { type: "integer", description: "tokens that the policy sampled" },
  observation_tokens: { type: "integer", description: "tokens of observations" },
  started_at: { type: "time", description: "when it began, UTC" },
  trajectory_seconds: { type: "number", description: "how long it took" },
  task_json: { type: "text", description: "JSON: the whole task, with prompt and ground truth" },
  score_failures: { type: "text", description: "JSON: scores that failed: when, which attempt, why" },
} as const satisfies Record<string, Column>;

/** What a row says of its own: a segment, which is a run of tokens of one origin. */
export const segmentColumns = {
  turn: { type: "integer", description: "the turn, from 1; null in the one row of a trajectory without any" },
  origin: { type: "text", description: "prompt, action or observation" },
  text: { type: "text", description: "the tokens as text, for the reader" },
  tokens: { type: "integers", description: "token ids, exactly as sampled or framed" },
  mask: { type: "integer", description: "the loss mask of these tokens: 1 in actions, 0 elsewhere" },
  logprobs: { type: "numbers", description: "of an action's tokens, in nats at temperature 1" },
  tempered_logprobs: {
    type: "numbers",
    description: "the same at the sampling temperature, where that is neither 1 nor 0",
  },
  sampling_logprobs: {
    type: "numbers",
    description:
      "the same in the distribution that they were drawn from, where that was restricted (top-p, a grammar)",
  },
  router_ties: {
    type: "integers",
    description:
      "of a mixture of experts: where a router chose narrowly, three numbers each: the token's position in its row, the layer, the last expert chosen; absent in older files",
  },
  policy_version: { type: "integer", description: "the version that sampled the action" },
  segment: { type: "text", description: "SHA-256 of the action's segment: its name" },
  follows_turn: {
    type: "integer",
    description: "of a prompt or an observation: the turn whose action it follows; null at the beginning",
  },
  said: { type: "text", description: "JSON: what people said before the action" },
  request: {
    type: "text",
    description: "JSON: the request of the trajectory's agent that the action answers",
  },
  cut_observations: {
    type: "integer",
    description:
      "of an observation: how many tools' answers in it were cut at their tokens; null if none was, and absent in older files",
  },
  finish_reason: { type: "text", description: "of an action: stop, or length where it was cut" },
  turn_seconds: { type: "number", description: "how long the action took, with waits" },
  work_seconds: { type: "number", description: "of it, what the policy worked" },
  calls_begun: { type: "integer", description: "how many tool calls the action began, answered or not" },
  calls: {
    type: "calls",
    description: "those that were answered, or failed: a list of structures, see below",
  },
  exact: {
    type: "text",
    description:
      "JSON of all records of the trajectory, in the first row of one that the columns can't say exactly (half a character in an observation, say); null as a rule",
  },
} as const satisfies Record<string, Column>;

/** What is said of a tool call. */
export const callColumns = {
  call: { type: "integer", description: "its number in the turn, from 0" },
  tool: { type: "text", description: "the tool's name, as the policy wrote it" },
  arguments: { type: "text", description: "JSON: its arguments; a string where they could not be read" },
  observation: {
    type: "text",
    description: "what came back to the policy; null: the call was never answered",
  },
  valid: {
    type: "truth",
    description:
      "whether it could be read, named a tool, fitted its parameters, and was one that the tool allows",
  },
  invalid: { type: "text", description: "why the tool said that it is none that may be made" },
  media: {
    type: "text",
    description:
      "JSON: images and videos of the observation: SHA-256 in the run's `bytes/`, media type, size, width and height",
  },
  whole: { type: "text", description: "SHA-256 of the whole observation, in `bytes/`, where it was cut" },
  done: { type: "truth", description: "whether the tool said that there is nothing more to do" },
  approval: {
    type: "text",
    description: "of one that waited for a person: approved, edited, answered, denied, timed-out",
  },
  reward: { type: "number", description: "what the tool added to the reward" },
  attempts: { type: "integer", description: "how often it was tried; 0 where no tool was asked" },
  seconds: { type: "number", description: "how long the execution took that answered" },
  metrics: { type: "text", description: "JSON: what the tool measured, by name" },
  snapshot: { type: "text", description: "SHA-256 of the tool's state after it, in the run's `bytes/`" },
  failures: { type: "text", description: "JSON: executions that failed: when, which attempt, why" },
} as const satisfies Record<string, Column>;

/** All columns of a step's file, in order. */
export const columns: Record<string, Column> = { ...trajectoryColumns, ...segmentColumns };
