import type { Task } from "../../contracts/generated/task.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { RecordedResult } from "../../contracts/reward.ts";
import type { Outcome } from "../../contracts/trajectory.ts";

/** A call to make. For a tool with state, the cases are a trajectory's calls, in order. */
export interface ToolCase {
  /** The function to call. Optional for a tool with one function. */
  function?: string;
  arguments: JsonObject;
  /** The expected text. Default: any. */
  text?: string;
  /** Whether the answer must be marked as the model's mistake. */
  error?: boolean;
  /** Whether the tool must reject the call (`invalid`). */
  invalid?: boolean;
  /** Whether the answer must end the trajectory. */
  done?: boolean;
  /** The answer may differ from call to call, like that of a clock or a search. */
  varies?: boolean;
}

/** A trajectory for a reward manager to score. */
export interface RewardCase {
  /** The model's last answer. */
  answer: string;
  /** The task's ground truth. Default: 42. */
  groundTruth?: string;
  turns?: Turn[];
  /** The final states of the tools, by name: bytes or text. Default: none. */
  snapshots?: Record<string, string | Uint8Array>;
  /** The results that the trajectory's agent recorded. Default: none. */
  recorded?: RecordedResult[];
  /** Default: answered. */
  outcome?: Outcome;
  /** The expected score. */
  reward?: number;
  success?: boolean;
  /** The expected reward of each turn. */
  turnRewards?: number[];
  /** Whether the score must be missing: `{ missing: "why" }`. */
  missing?: boolean;
}

/** The model's actions, turn by turn, for an agent loop. */
export interface LoopCase {
  actions: string[];
  /** The expected outcome of the trajectory. */
  outcome?: Outcome;
}

/** A case for a plugin of any kind. */
export type PluginCase = ToolCase | RewardCase | LoopCase;

/** How a plugin is checked. */
export interface PluginCheckOptions {
  /** Cases to check, in addition to those that Everturn derives from its schema and the schema's `examples`. */
  cases?: readonly PluginCase[];
  /** Its configuration, as in a pipeline. Default: the first of its schema's `examples`, or nothing. */
  config?: JsonObject;
  /** The task of the trajectories. Default: a plain one with the ground truth 42. */
  task?: Partial<Task>;
  /**
   * Returns what a tool has changed in the world, as text or any JSON value; or the path of a file with that content. The
   * check uses it to detect work that is done twice.
   */
  effects?: string | (() => unknown);
}

/** The task that a plugin is tested with. */
export function taskOf({ task = {} }: PluginCheckOptions, groundTruth = "42"): Task {
  return {
    data_source: "everturn-plugin-check",
    prompt: [{ role: "user", content: "What is 6 times 7?" }],
    reward_model: { ground_truth: groundTruth },
    ...task,
  };
}
