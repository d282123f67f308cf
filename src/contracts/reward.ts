import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { Task } from "./generated/task.ts";
import type { Turn } from "./generated/trajectory.ts";
import type { JsonObject } from "./json.ts";
import type { Outcome } from "./trajectory.ts";

/** What a reward manager sees of a finished trajectory. */
export interface ScoreRequest {
  task: Task;
  turns: Turn[];
  outcome: Outcome;
  /** The last action without its thoughts if it called no tool; what the tool said that ended the trajectory; else "". */
  answer: string;
  config: JsonObject;
  /**
   * The last snapshot of each tool that the trajectory called, by the tool's name, of those with `recovery: snapshot`. Given where the manifest's reward
   * block says `snapshots: true`.
   */
  snapshots?: Record<string, Uint8Array>;
  /** Aborted at the reward's time-out, and when nobody waits for the score any longer. */
  signal: AbortSignal;
}

/** A trajectory's score. `success` feeds the success rate and held-out accuracy. */
export interface Score {
  /** All that it earned. */
  reward: number;
  success: boolean;
  metrics?: Record<string, number>;
  /** The part of `reward` that each turn earned, one number a turn; the rest comes with the last turn. */
  turns?: number[];
}

/** A finished trajectory of a group, as a reward of groups sees it. */
export interface GroupMember extends Pick<ScoreRequest, "turns" | "outcome" | "answer"> {
  /** Its number among those of its task. */
  sample: number;
  /** What the pipeline's other rewards and the tools gave it. */
  reward: number;
  success: boolean;
  /** What was measured of it; each of several rewards is one, by its name. */
  metrics: Record<string, number>;
}

/** What a reward of groups sees: trajectories of one task that share an advantage baseline, those that were left out not among them. */
export interface GroupScoreRequest extends Pick<ScoreRequest, "task" | "config" | "signal"> {
  members: GroupMember[];
}

/** What a reward of groups says of a member. */
export type GroupScore = Pick<Score, "reward" | "metrics">;

/** A score that can't be had, and why: the trajectory trains no step. It is no 0. */
export interface Unscored {
  missing: string;
}

/**
 * The default export of a reward plugin. A throw means that its infrastructure failed; a mistake in the plugin's own
 * text (a TypeError there, a score of a wrong form) ends the run.
 */
export interface RewardPlugin {
  score(request: ScoreRequest): Promise<Score | Unscored> | Score | Unscored;
  /** What no schema can say of a configuration, asked before a run. Of a package: a definition in one file is not asked. */
  check?(config: JsonObject): ConfigurationProblem[];
}

/** The default export of a reward plugin whose manifest says `group: true`: it compares the trajectories of a group. */
export interface GroupRewardPlugin extends Pick<RewardPlugin, "check"> {
  /** A score for each member, in their order; it must not depend on that order. Asked once, when all of the group have ended. */
  scoreGroup(request: GroupScoreRequest): Promise<(GroupScore | Unscored)[]> | (GroupScore | Unscored)[];
}
