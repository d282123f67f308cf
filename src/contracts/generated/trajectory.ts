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
   * The run it belongs to.
   */
  run: string;
  /**
   * The step or evaluation it was made for: step-0003, evaluation-0001.
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
   * How it ended; done: a tool said that there is nothing more to do; left-out: its infrastructure failed past its budget and it trained no step.
   */
  outcome: "answered" | "done" | "turn-limit" | "token-limit" | "time-limit" | "invalid-limit" | "left-out";
  /**
   * The rewards' scores by their weights, and the tools' rewards.
   */
  reward: number;
  /**
   * The part of the reward that each turn earned, by its tools and as the rewards say; absent if none said so.
   *
   * Items: All that the turn earned.
   */
  turnRewards?: number[];
  /**
   * What the reward measured, by its names (each of several rewards by its name, what it measured as name.metric), and the tools, as tool.metric: the mean of the calls that told it. Absent if nothing.
   */
  metrics?: {
    /**
     * Its value.
     */
    [k: string]: number;
  };
  /**
   * Whether the reward manager counts it as solved.
   */
  success: boolean;
  /**
   * The last action's text, if it called no tool.
   */
  answer?: string;
  /**
   * What was done, turn by turn.
   */
  turns: Turn[];
  /**
   * Its last segment; null if there is none.
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
     * Tokens the policy sampled.
     */
    action: number;
    /**
     * Tokens of observations.
     */
    observation: number;
  };
  /**
   * Of a fork: where it comes from. It trains no step.
   */
  origin?: {
    /**
     * The id of the trajectory whose first turns it has.
     */
    trajectory: string;
    /**
     * How many turns it has of that one, byte for byte.
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
     * The policy that generated its own turns, if it is none of the run's versions.
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
   * What the policy wrote.
   */
  action: string;
  /**
   * The loop's sub-agent whose turn it is; the conversation with the task's user if left out.
   */
  agent?: string;
  /**
   * What people said before the action; nothing if left out.
   *
   * Items: A message that a person added.
   */
  said?: {
    /**
     * Who it is from, for the model.
     */
    role: "user" | "system";
    /**
     * Its text.
     */
    content: string;
  }[];
  /**
   * In the order the policy wrote them.
   */
  toolCalls: Call[];
  /**
   * How many calls were begun and never answered: the turn's time was up, or what they need failed; none if left out.
   */
  unanswered?: number;
}
/**
 * A tool call of a turn, with what came back.
 */
export interface Call {
  /**
   * The tool's name, as the policy wrote it.
   */
  tool: string;
  /**
   * The arguments; the raw text where they could not be read.
   */
  arguments: JsonObject | string;
  /**
   * What came back to the policy.
   */
  observation: string;
  /**
   * Whether the call could be read, named a tool, fitted its parameters, and was an action that the tool allows.
   */
  valid: boolean;
  /**
   * The agent loop made the call, and not the policy.
   */
  byLoop?: true;
  /**
   * Why the tool said that the call is none that may be made; absent where it did not.
   */
  invalid?: string;
  /**
   * Images and videos of the observation, in the order of their notes in its text; none if left out.
   */
  media?: Media[];
  whole?: Digest;
  /**
   * Whether the tool said that there is nothing more to do, which ends the trajectory; false if left out.
   */
  done?: boolean;
  /**
   * What became of a call that waited for approval: made as it was, made with other arguments, or not made because a person said no or nobody said anything; or of a question that a person answered.
   */
  approval?: "approved" | "edited" | "answered" | "denied" | "timed-out";
  /**
   * How often the call was tried.
   */
  attempts: number;
}
/**
 * An image, which has one frame, or a video.
 */
export interface Media {
  /**
   * What it is.
   */
  type: "image" | "video";
  /**
   * What its note calls it, where the tool gave it a name.
   */
  name?: string;
  /**
   * Its images, in order.
   *
   * @minItems 1
   */
  frames: Frame[];
  /**
   * Of a video, where the tool said so.
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
   * How many there are.
   */
  bytes: number;
  /**
   * In pixels, where its header says so.
   */
  width?: number;
  /**
   * In pixels, where its header says so.
   */
  height?: number;
}
