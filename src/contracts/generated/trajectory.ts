// Generated from schemas/trajectory.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";
import type { Task } from "./task.ts";

/**
 * A SHA-256, in hexadecimal.
 */
export type Digest = string;

/**
 * A finished trajectory, as the trajectory store records it.
 */
export interface Trajectory {
  /**
   * run/stage/task/sample.
   */
  id: string;
  /**
   * The run that it belongs to.
   */
  run: string;
  /**
   * The step or evaluation that it belongs to: step-0003, evaluation-0001.
   */
  stage: string;
  /**
   * The policy-gradient step.
   */
  step: number;
  /**
   * Its number among the trajectories of its task in the stage.
   */
  sample: number;
  /**
   * The task's id in its data set.
   */
  taskId: string;
  task: Task;
  /**
   * The policy version of each turn.
   *
   * Items: A version.
   */
  policyVersions: number[];
  /**
   * How it ended. done: a tool reported that the task is finished. left-out: infrastructure failed beyond its budget, and the trajectory trained no step.
   */
  outcome: "answered" | "done" | "turn-limit" | "token-limit" | "time-limit" | "invalid-limit" | "left-out";
  /**
   * The weighted sum of the rewards' scores, plus the tools' rewards.
   */
  reward: number;
  /**
   * The part of the reward that each turn earned from its tools and from rewards that score turns. Absent if none do.
   *
   * Items: The turn's total.
   */
  turnRewards?: number[];
  /**
   * The reward's metrics by name (with several rewards, each score by the reward's name and its metrics as name.metric) and the tools' metrics as tool.metric, averaged over the calls that reported them. Absent if empty.
   */
  metrics?: {
    /**
     * Its value.
     */
    [k: string]: number;
  };
  /**
   * Whether the reward manager counts the task as solved.
   */
  success: boolean;
  /**
   * The last action's text, if it called no tool.
   */
  answer?: string;
  /**
   * Its turns in order.
   */
  turns: Turn[];
  /**
   * Its last segment; null without one.
   */
  head: string | null;
  /**
   * Numbers of tokens by origin.
   */
  tokens: {
    /**
     * Tokens of prompts.
     */
    prompt: number;
    /**
     * Tokens that the policy sampled.
     */
    action: number;
    /**
     * Tokens of observations.
     */
    observation: number;
  };
  /**
   * For a fork: its origin. A fork trains no step.
   */
  origin?: {
    /**
     * The id of the trajectory whose first turns it shares.
     */
    trajectory: string;
    /**
     * The number of turns that it shares with that trajectory, byte for byte.
     */
    turns: number;
    /**
     * Sampling temperature of its own turns.
     */
    temperature: number;
    /**
     * Seed of its own turns.
     */
    seed: number;
    /**
     * The policy that generated its own turns, if it is not one of the run's versions.
     */
    policyFolder?: string;
  };
  /**
   * Why it was left out.
   */
  failure?: string;
  /**
   * When it started, ISO 8601.
   */
  startedAt?: string;
  /**
   * How long it took.
   */
  seconds: number;
}
/**
 * A turn: an action and the tool calls in it.
 */
export interface Turn {
  /**
   * The text that the policy wrote.
   */
  action: string;
  /**
   * The loop's sub-agent whose turn it is. Absent in the conversation with the task's user.
   */
  agent?: string;
  /**
   * Messages that people sent before the action. Absent if none.
   *
   * Items: A message that a person added.
   */
  said?: {
    /**
     * The message's role for the model.
     */
    role: "user" | "system";
    /**
     * Its text.
     */
    content: string;
  }[];
  /**
   * In the order in which the policy wrote them.
   */
  toolCalls: Call[];
  /**
   * The number of calls that began and were never answered, because the turn ran out of time or their infrastructure failed. Absent if none.
   */
  unanswered?: number;
}
/**
 * A tool call of a turn, with its observation.
 */
export interface Call {
  /**
   * The tool's name, as the policy wrote it.
   */
  tool: string;
  /**
   * The arguments, or the raw text if it could not be parsed.
   */
  arguments: JsonObject | string;
  /**
   * The text that the policy read.
   */
  observation: string;
  /**
   * Whether the call could be parsed, named a tool, matched its parameters, and was allowed by the tool.
   */
  valid: boolean;
  /**
   * The agent loop made the call, not the policy.
   */
  byLoop?: true;
  /**
   * Why the tool rejected the call. Absent if it did not.
   */
  invalid?: string;
  /**
   * Images and videos of the observation, in the order of their notes in its text. Absent if none.
   */
  media?: Media[];
  whole?: Digest;
  /**
   * Whether the tool reported that the task is finished, which ends the trajectory. Default: false.
   */
  done?: boolean;
  /**
   * The outcome of a call that waited for a person: approved unchanged, edited (approved with other arguments), denied, timed-out (nobody decided), or answered if the call is a question.
   */
  approval?: "approved" | "edited" | "answered" | "denied" | "timed-out";
  /**
   * The number of attempts.
   */
  attempts: number;
}
/**
 * An image, which has one frame, or a video.
 */
export interface Media {
  /**
   * Image or video.
   */
  type: "image" | "video";
  /**
   * Its name in the note, if the tool named it.
   */
  name?: string;
  /**
   * Its images, in order.
   *
   * @minItems 1
   */
  frames: Frame[];
  /**
   * For a video, if the tool provided it.
   */
  framesPerSecond?: number;
}
/**
 * An image, whose bytes are in the run's bytes/.
 */
export interface Frame {
  sha256: Digest;
  /**
   * For example image/png.
   */
  mediaType: string;
  /**
   * The number of bytes.
   */
  bytes: number;
  /**
   * In pixels, if its header contains it.
   */
  width?: number;
  /**
   * In pixels, if its header contains it.
   */
  height?: number;
}
