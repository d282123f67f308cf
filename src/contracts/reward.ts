import type { Task } from "./generated/task.ts";
import type { JsonObject } from "./json.ts";
import type { Outcome, TurnRecord } from "./trajectory.ts";

/** What a reward manager sees of a finished trajectory. */
export interface ScoreRequest {
  task: Task;
  turns: TurnRecord[];
  outcome: Outcome;
  /** The text of the last action if it called no tool, else "". */
  answer: string;
  config: JsonObject;
  /** Aborted at the reward's time-out, and when nobody waits for the score any longer. */
  signal: AbortSignal;
}

/** A trajectory's score. `success` feeds the success rate and held-out accuracy. */
export interface Score {
  reward: number;
  success: boolean;
  metrics?: Record<string, number>;
}

/**
 * The default export of a reward plugin. A throw means that its infrastructure failed; a mistake in the plugin's own
 * text (a TypeError there, a score of a wrong form) ends the run.
 */
export interface RewardPlugin {
  score(request: ScoreRequest): Promise<Score> | Score;
}
