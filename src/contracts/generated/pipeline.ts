// Generated from schemas/pipeline.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A plugin's name, or the path of its folder starting with ./ or ../
 */
export type PluginReference = string;
/**
 * A number and ms, s, m or h, for example 500ms, 10s or 2m.
 */
export type Duration = string;

/**
 * What a run is made of. Paths are relative to the pipeline file.
 */
export interface Pipeline {
  /**
   * Names the pipeline's runs: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * The same seed gives the same run.
   */
  seed: number;
  /**
   * How many policy-gradient steps to take, for example 40. 0 stops after the warm start.
   */
  steps: number;
  policy: PluginUse;
  /**
   * The tasks to train on and the held-out tasks to evaluate on.
   */
  dataset: {
    train: PluginUse;
    validation: PluginUse;
  };
  /**
   * The tools that the policy may call, each a plugin of kind tool. None by default.
   */
  tools: ToolUse[];
  loop: PluginUse;
  reward: PluginUse;
  trainer: TrainerUse;
  /**
   * Supervised steps on demonstrations before the first policy-gradient step. None if left out.
   */
  warmStart?: {
    /**
     * A JSON Lines file of demonstrations, each {"messages": […]}.
     */
    demonstrations: string;
    /**
     * How many supervised steps to take, for example 300.
     */
    steps: number;
    /**
     * Demonstrations in a supervised step.
     */
    batchSize: number;
    /**
     * Peak learning rate of the supervised steps, for example 1e-3.
     */
    learningRate: number;
  };
  /**
   * How each step's trajectories are sampled.
   */
  rollout: {
    /**
     * Trajectories in a policy-gradient step. groupSize and the trainer's minibatchSize must divide it.
     */
    batchSize: number;
    /**
     * Trajectories of one task in a step; they share an advantage baseline where the trainer uses one.
     */
    groupSize: number;
    /**
     * Sampling temperature: 1 samples the policy as it is, 0 is greedy.
     */
    temperature: number;
    /**
     * An action is cut after this many tokens.
     */
    maxActionTokens: number;
    /**
     * How many trajectories run at the same time.
     */
    concurrency: number;
    /**
     * DAPO's: tasks whose trajectories all earn the same teach nothing, and are replaced by others within the step. Off if left out.
     */
    dynamicSampling?: {
      /**
       * Rounds of sampling in a step, the first one included. After them the step trains on the tasks it has.
       */
      maxRounds: number;
    };
  };
  /**
   * Greedy evaluations on the validation tasks. One is always made before the first step and after the last.
   */
  evaluation: {
    /**
     * Evaluate after each so many steps.
     */
    every: number;
    /**
     * Evaluate on the first so many validation tasks.
     */
    tasks: number;
  };
  /**
   * Which policy versions stay on disk for good.
   */
  checkpoints: {
    /**
     * Keep the checkpoint of each so many steps; the latest and the last are always kept.
     */
    every: number;
  };
}
/**
 * A plugin and its configuration: { plugin: name, config: { … } }.
 */
export interface PluginUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
}
/**
 * A tool plugin, its configuration, and what overrides its manifest.
 */
export interface ToolUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  /**
   * Overrides the retry policy of the tool's manifest, key by key.
   */
  retry?: {
    /**
     * How often a failing call is tried in all; 1 means no retry.
     */
    maximumAttempts?: number;
    initialInterval?: Duration;
    /**
     * Each wait is the one before times this.
     */
    backoffCoefficient?: number;
    maximumInterval?: Duration;
  };
  timeout?: Duration;
}
/**
 * A trainer plugin, its configuration, and a loss of your own.
 */
export interface TrainerUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  loss?: PluginUse;
}
