import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { Task } from "./generated/task.ts";
import type { Turn } from "./generated/trajectory.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Outcome } from "./trajectory.ts";

/** The result of a function of an agent, which the agent wrapped with `recorded`. */
export interface RecordedResult {
  name: string;
  arguments: JsonValue;
  result: JsonValue;
}

/** A finished trajectory, as a reward receives it. */
export interface ScoreRequest {
  task: Task;
  turns: Turn[];
  outcome: Outcome;
  /**
   * The last action without its thoughts, if it called no tool; the text of the tool that ended the trajectory;
   * or "".
   */
  answer: string;
  config: JsonObject;
  /**
   * The last snapshot of each called tool with `recovery: snapshot`, by the tool's name. Present if the manifest's reward
   * block sets `snapshots: true`.
   */
  snapshots?: Record<string, Uint8Array>;
  /**
   * The results that the trajectory's agent recorded, in order. Present if the manifest's reward block sets
   * `recorded: true`.
   */
  recorded?: RecordedResult[];
  /** Aborted at the reward's time-out, and when the score is no longer needed. */
  signal: AbortSignal;
}

/** A trajectory's score. `success` feeds the success rate and held-out accuracy. */
export interface Score {
  /** The trajectory's whole reward. */
  reward: number;
  success: boolean;
  metrics?: Record<string, number>;
  /** The part of `reward` that each turn earned, one number per turn. The last turn gets the rest. */
  turns?: number[];
}

/** A finished trajectory of a group, as a group reward receives it. */
export interface GroupMember extends Pick<ScoreRequest, "turns" | "outcome" | "answer"> {
  /** Its number among those of its task. */
  sample: number;
  /** The reward from the pipeline's other rewards and the tools. */
  reward: number;
  success: boolean;
  /** Its metrics by name, including the score of each of several rewards. */
  metrics: Record<string, number>;
}

/**
 * What a group reward receives: the trajectories of one task that share an advantage baseline, without those
 * left out.
 */
export interface GroupScoreRequest extends Pick<ScoreRequest, "task" | "config" | "signal"> {
  members: GroupMember[];
}

/** A group reward's score of one member. */
export type GroupScore = Pick<Score, "reward" | "metrics">;

/** A missing score, with its reason. The trajectory trains no step. This differs from a score of 0. */
export interface Unscored {
  missing: string;
}

/**
 * The default export of a reward plugin. Throw if its infrastructure fails. A bug in the plugin (a TypeError in its code,
 * a score of the wrong type) ends the run.
 */
export interface RewardPlugin {
  score(request: ScoreRequest): Promise<Score | Unscored> | Score | Unscored;
  /** Checks whether the reward's host works again, and throws if it does not. Default: Everturn tries a waiting score. */
  probe?(config: JsonObject): Promise<void> | void;
  /** Checks what a schema can't express, before a run. Only for packages, not for a definition in one file. */
  check?(config: JsonObject): ConfigurationProblem[];
}

/** The default export of a reward plugin whose manifest sets `group: true`: it compares the trajectories of a group. */
export interface GroupRewardPlugin extends Pick<RewardPlugin, "check"> {
  /**
   * Scores each member, in order. The scores must not depend on that order. Called once, when the whole group
   * has ended.
   */
  scoreGroup(request: GroupScoreRequest): Promise<(GroupScore | Unscored)[]> | (GroupScore | Unscored)[];
}
