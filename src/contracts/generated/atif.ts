// Generated from schemas/atif.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * Anything else.
 */
export type AtifExtra = JsonObject;

/**
 * A trajectory in Harbor's Agent Trajectory Interchange Format (ATIF 1.0 to 1.8), the form of --as atif and of demonstrations from Harbor. A null field counts as absent.
 */
export interface Atif {
  /**
   * The version of the format.
   */
  schema_version:
    | "ATIF-v1.0"
    | "ATIF-v1.1"
    | "ATIF-v1.2"
    | "ATIF-v1.3"
    | "ATIF-v1.4"
    | "ATIF-v1.5"
    | "ATIF-v1.6"
    | "ATIF-v1.7"
    | "ATIF-v1.8";
  /**
   * The run of the agent. Sub-agents and continuations share it.
   */
  session_id?: string;
  /**
   * The id of this trajectory alone. Sub-agents need one.
   */
  trajectory_id?: string;
  agent: AtifAgent;
  /**
   * The prompt, the agent's turns and what others said, in order.
   *
   * @minItems 1
   */
  steps: AtifStep[];
  /**
   * Remarks for people.
   */
  notes?: string;
  final_metrics?: AtifTotals;
  /**
   * The file that continues this trajectory.
   */
  continued_trajectory_ref?: string;
  extra?: AtifExtra;
  /**
   * The trajectories of sub-agents.
   */
  subagent_trajectories?: Atif[];
}
/**
 * The agent that acted.
 */
export interface AtifAgent {
  /**
   * The agent's name.
   */
  name: string;
  /**
   * The agent's version.
   */
  version: string;
  /**
   * The model of all steps that name none.
   */
  model_name?: string;
  /**
   * The tools that the prompt shows, in OpenAI's format.
   *
   * Items: A tool in OpenAI's format.
   */
  tool_definitions?: JsonObject[];
  extra?: AtifExtra;
}
/**
 * A message, or a turn of the agent with the answers to its calls.
 */
export interface AtifStep {
  /**
   * 1, 2, 3 without gaps.
   */
  step_id: number;
  /**
   * When it happened, ISO 8601.
   */
  timestamp?: string;
  /**
   * Who speaks. A system step with an observation is an event that no model reads.
   */
  source: "system" | "user" | "agent";
  /**
   * The model that wrote it. Only for the agent.
   */
  model_name?: string;
  /**
   * The effort of reasoning. Only for the agent.
   */
  reasoning_effort?: string | number;
  /**
   * The text, or parts of text, images and audio. May be empty.
   */
  message: string | AtifPart[];
  /**
   * The agent's thoughts. Only for the agent.
   */
  reasoning_content?: string;
  /**
   * The agent's tool calls. Only for the agent.
   */
  tool_calls?: AtifToolUse[];
  observation?: AtifObservation;
  metrics?: AtifMetrics;
  /**
   * The step was copied from another trajectory and is not trained on.
   */
  is_copied_context?: boolean;
  /**
   * The number of generations in the step. 0: no model wrote it.
   */
  llm_call_count?: number;
  extra?: AtifExtra;
}
/**
 * A part of a message: text, an image or audio.
 */
export interface AtifPart {
  /**
   * The kind of the part.
   */
  type: "text" | "image" | "audio";
  /**
   * The text of a part of text.
   */
  text?: string;
  source?: AtifSource;
}
/**
 * Where an image or audio is.
 */
export interface AtifSource {
  /**
   * For example image/png.
   */
  media_type: string;
  /**
   * A file or URL.
   */
  path: string;
  /**
   * Of audio, in seconds.
   */
  duration_sec?: number;
}
/**
 * A tool call.
 */
export interface AtifToolUse {
  /**
   * Its id, which the result that answers it names.
   */
  tool_call_id: string;
  /**
   * The tool's name.
   */
  function_name: string;
  /**
   * The arguments, as a mapping.
   */
  arguments: JsonObject;
  extra?: AtifExtra;
}
/**
 * What the step's calls returned.
 */
export interface AtifObservation {
  /**
   * The results in order.
   */
  results: AtifResult[];
}
/**
 * A result.
 */
export interface AtifResult {
  /**
   * The call of the same step that it answers. Absent: none in particular.
   */
  source_call_id?: string;
  /**
   * The text, or parts of text, images and audio.
   */
  content?: string | AtifPart[];
  /**
   * The sub-agents that did the work.
   */
  subagent_trajectory_ref?: AtifReference[];
  extra?: AtifExtra;
}
/**
 * A reference to a sub-agent's trajectory.
 */
export interface AtifReference {
  /**
   * The id of one of subagent_trajectories.
   */
  trajectory_id?: string;
  /**
   * Its run.
   */
  session_id?: string;
  /**
   * Its file.
   */
  trajectory_path?: string;
  extra?: AtifExtra;
}
/**
 * Numbers of a generation, and its tokens.
 */
export interface AtifMetrics {
  /**
   * The number of tokens that the model read.
   */
  prompt_tokens?: number;
  /**
   * The number of tokens that it wrote.
   */
  completion_tokens?: number;
  /**
   * The number of prompt tokens found in a cache.
   */
  cached_tokens?: number;
  /**
   * In US dollars.
   */
  cost_usd?: number;
  /**
   * All tokens that the model read, with the whole history.
   *
   * Items: A token id.
   */
  prompt_token_ids?: number[];
  /**
   * The tokens that it wrote, exactly as sampled.
   *
   * Items: A token id.
   */
  completion_token_ids?: number[];
  /**
   * One for each token that it wrote, in nats.
   *
   * Items: At most 0.
   */
  logprobs?: number[];
  extra?: AtifExtra;
}
/**
 * Numbers of the whole trajectory.
 */
export interface AtifTotals {
  /**
   * The sum over the steps.
   */
  total_prompt_tokens?: number;
  /**
   * The sum over the steps.
   */
  total_completion_tokens?: number;
  /**
   * The sum over the steps.
   */
  total_cached_tokens?: number;
  /**
   * In US dollars, with sub-agents.
   */
  total_cost_usd?: number;
  /**
   * The number of steps.
   */
  total_steps?: number;
  extra?: AtifExtra;
}
