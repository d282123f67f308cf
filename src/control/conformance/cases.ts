import type { Task } from "../../contracts/generated/task.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/trajectory.ts";

/** A call of a tool to make. Those of a tool with state are the calls of a trajectory, in order. */
export interface ToolCase {
  /** Which function is called; may be left out of a tool that has one. */
  function?: string;
  arguments: JsonObject;
  /** What must be answered; any text if left out. */
  text?: string;
  /** Whether the answer must be marked as the model's failure. */
  error?: boolean;
  /** Whether the tool must say that the call may not be made (`invalid`). */
  invalid?: boolean;
  /** Whether the answer must end the trajectory. */
  done?: boolean;
  /** The answer may differ from call to call, as a clock's or a search's does. */
  varies?: boolean;
}

/** A trajectory for a reward manager to score. */
export interface RewardCase {
  /** What the model answered last. */
  answer: string;
  /** What its task expects. Default: 42. */
  groundTruth?: string;
  turns?: Turn[];
  /** The states that the tools ended with, by the tool's name: bytes, or text. Default: none. */
  snapshots?: Record<string, string | Uint8Array>;
  /** Default: answered. */
  outcome?: Outcome;
  /** What the score must be. */
  reward?: number;
  success?: boolean;
  /** What it must give each turn. */
  turnRewards?: number[];
  /** Whether it must say that there is no score: `{ missing: "why" }`. */
  missing?: boolean;
}

/** What the model writes, turn after turn, for an agent loop to go through. */
export interface LoopCase {
  actions: string[];
  /** How the trajectory must end. */
  outcome?: Outcome;
}

/** What a plugin of any kind is tried with. */
export type PluginCase = ToolCase | RewardCase | LoopCase;

/** How a plugin is checked. */
export interface PluginCheckOptions {
  /** What it is tried with, beside what is made up from its schema and the `examples` there. */
  cases?: readonly PluginCase[];
  /** Its configuration, as a pipeline gives it. Default: the first of the `examples` of its schema, else nothing. */
  config?: JsonObject;
  /** The task of the trajectories it is tried in. Default: a plain one, with the ground truth 42. */
  task?: Partial<Task>;
  /**
   * What a tool has changed in the world, told by a text or anything else JSON can hold; or a file's path, whose content it
   * is. By it repeated calls are told from those done once.
   */
  effects?: string | (() => unknown);
}

/** The task that a plugin is tried with. */
export function taskOf({ task = {} }: PluginCheckOptions, groundTruth = "42"): Task {
  return {
    data_source: "everturn-plugin-check",
    prompt: [{ role: "user", content: "What is 6 times 7?" }],
    reward_model: { ground_truth: groundTruth },
    ...task,
  };
}
