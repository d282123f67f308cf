// Generated from schemas/pipeline.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A plugin's name, its package's name in quotes ("@acme/tool-search"), or a path that begins with ./ or ../, to its folder or to the module that defines it (./tools/length.ts).
 */
export type PluginReference = string;
/**
 * The tool's own name for the function.
 */
export type FunctionName = string;
/**
 * A number and ms, s, m or h, for example 500ms, 10s or 2m.
 */
export type Duration = string;
/**
 * A number and /s, /m or /h, for example 10/s or 60/m.
 */
export type Rate = string;
export type Rewards = RewardList | RewardUse;
/**
 * Reward plugins whose weighted scores are added. Each score is also logged under the plugin's name.
 *
 * @minItems 1
 */
export type RewardList = RewardUse[];
/**
 * The name of a condition.
 */
export type StopCondition =
  | "paused-hosts"
  | "overload"
  | "many-left-out"
  | "lost-groups"
  | "different-tools"
  | "random-actions"
  | "greedy-sampling"
  | "cut-actions"
  | "cut-observations"
  | "no-tool-calls"
  | "unreadable-calls"
  | "invalid-calls"
  | "same-observations"
  | "missed-answers"
  | "limited-trajectories"
  | "never-rewarded"
  | "constant-rewards"
  | "uniform-groups"
  | "reward-against-success"
  | "reward-without-success"
  | "large-rewards"
  | "reward-hacking"
  | "reward-collapse"
  | "tasks-exhausted"
  | "masked-trajectories"
  | "zero-gradient"
  | "exploding-gradient"
  | "learning-rate-high"
  | "learning-rate-low"
  | "strong-kl-penalty"
  | "kl-growth"
  | "entropy-growth"
  | "entropy-collapse"
  | "dead-value-head"
  | "sampler-gap"
  | "stale-actions"
  | "skipped-updates"
  | "overfitting";

/**
 * The definition of a run. Paths are relative to the pipeline file.
 */
export interface Pipeline {
  /**
   * Another pipeline file that this one overrides. Mappings are merged, all other values are replaced, and null removes a key.
   */
  extends?: string;
  /**
   * Reusable mappings, by name. A mapping with use: NAME starts from this block and overrides it with its own keys.
   */
  use?: JsonObject;
  /**
   * Names the pipeline's runs: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * The same seed gives the same run.
   */
  seed: number;
  /**
   * Number of steps, for example 40. 0 stops after the warm start. Optional if sft or dpo sets its epochs.
   */
  steps?: number;
  policy: PluginUse;
  environment?: EnvironmentUse;
  /**
   * The tasks to train on and the held-out tasks for evaluations.
   */
  dataset: {
    train?: PluginUse;
    validation: PluginUse;
    /**
     * The folder of the images that prompts refer to by path, for policies that read images.
     */
    images?: string;
    /**
     * The share of each data source (the tasks' data_source) in a step's groups, as weights: with { gsm8k: 3, math: 1 }, three of four groups are from gsm8k. Each source is shuffled separately. Name every source; 0 leaves one out. Default: all tasks are shuffled together.
     */
    mix?: {
      /**
       * The weight of this data source.
       */
      [k: string]: number;
    };
  };
  /**
   * The tools that the policy can call, each a plugin of kind tool. Default: none.
   */
  tools: ToolUse[];
  /**
   * Limits of the hosts of tools and rewards, by host name, for hosts that need other limits than the defaults.
   */
  hosts: {
    [k: string]: Host;
  };
  loop: LoopUse;
  /**
   * Loops by name, for tasks whose agent_name is that name. Default: none.
   */
  loops?: {
    [k: string]: LoopUse;
  };
  reward: Rewards;
  trainer: TrainerUse;
  /**
   * Supervised steps on demonstrations before the first policy-gradient step. Default: none.
   */
  warmStart?: {
    /**
     * A JSON Lines file of demonstrations, each {"messages": […]} or a trajectory in Harbor's format (ATIF). A .json file contains one.
     */
    demonstrations: string;
    /**
     * Number of supervised steps, for example 300.
     */
    steps: number;
    /**
     * Demonstrations per supervised step.
     */
    batchSize: number;
    /**
     * Peak learning rate of the supervised steps, for example 1e-3. Default: the trainer's; for trainer-onnx 2e-5 if all weights of a pretrained model are trained, 2e-4 with LoRA, 1e-3 from random weights.
     */
    learningRate?: number;
  };
  /**
   * Train on demonstrations instead of rollouts. The loss covers the assistant's tokens.
   */
  sft?: {
    /**
     * A JSON Lines file of demonstrations, each {"messages": […]} or a trajectory in Harbor's format (ATIF). A .json file contains one.
     */
    demonstrations: string;
    /**
     * Demonstrations per update.
     */
    batchSize: number;
    /**
     * Updates per step. Each step makes a version and a line of metrics. A trainer that dies repeats at most one step.
     */
    updates: number;
    /**
     * Passes over the file, for example 3, rounded up to whole steps. The pipeline's steps take precedence.
     */
    epochs?: number;
    /**
     * Number of rows to hold out, drawn with the seed. Everturn measures their loss after each step.
     */
    heldOut: number;
    /**
     * Peak learning rate. It rises over the first 8% of the updates and falls to 5% by the last one (cosine). Default: the trainer's; for trainer-onnx 2e-5 if all weights of a pretrained model are trained, 2e-4 with LoRA, 1e-3 from random weights.
     */
    learningRate?: number;
  };
  /**
   * Train on pairs of answers instead of rollouts. The preferred answer becomes likelier than the other, while the policy stays close to its starting point.
   */
  dpo?: {
    /**
     * A JSON Lines file of pairs, each {"prompt": […], "chosen": […], "rejected": […]}: lists of messages, in TRL's format, which `everturn trajectories RUN --as preferences` writes too.
     */
    preferences: string;
    /**
     * Pairs per update.
     */
    batchSize: number;
    /**
     * Updates per step. Each step makes a version and a line of metrics. A trainer that dies repeats at most one step.
     */
    updates: number;
    /**
     * Passes over the file, for example 3, rounded up to whole steps. The pipeline's steps take precedence.
     */
    epochs?: number;
    /**
     * Number of rows to hold out, drawn with the seed. Everturn measures their loss after each step.
     */
    heldOut: number;
    /**
     * Peak learning rate. It rises over the first 8% of the updates and falls to 5% by the last one (cosine). Default: the trainer's; for trainer-onnx 1e-6 if all weights of a pretrained model are trained, 1e-4 with LoRA or from random weights.
     */
    learningRate?: number;
    /**
     * How strongly the policy is kept close to its starting point.
     */
    beta: number;
    /**
     * sigmoid is DPO's loss; ipo is that of identity preference optimization, with mean log-probabilities of tokens.
     */
    loss: "sigmoid" | "ipo";
    /**
     * The assumed share of swapped pairs (conservative DPO). Requires the loss sigmoid.
     */
    labelSmoothing: number;
  };
  /**
   * How the trajectories of each step are sampled.
   */
  rollout: {
    /**
     * Trajectories per policy-gradient step. groupSize and the trainer's minibatchSize must divide it.
     */
    batchSize: number;
    /**
     * Trajectories per task in a step. They share an advantage baseline if the trainer uses one.
     */
    groupSize: number;
    /**
     * Sampling temperature: 1 samples from the policy's own distribution, 0 is greedy.
     */
    temperature: number;
    /**
     * An action is cut after this many tokens.
     */
    maxActionTokens: number;
    /**
     * The format of the policy's thoughts, calls and answers, for example qwen3-coder (docs/formats.md). Default: the chat template's format of calls, or hermes if it has none.
     */
    format?:
      | "hermes"
      | "qwen3-coder"
      | "llama3-json"
      | "pythonic"
      | "mistral"
      | "mistral-json"
      | "deepseek-v3"
      | "deepseek-v3.1"
      | "deepseek-v3.2"
      | "harmony"
      | "glm-4.5"
      | "kimi-k2"
      | "minimax-m1"
      | "minimax-m2"
      | "granite"
      | "nemotron"
      | "command-r"
      | "command-a"
      | "gemma-4"
      | "function-gemma"
      | "gemma-3"
      | "lfm2"
      | "xml-tags"
      | "fenced"
      | "react";
    /**
     * A regular expression that finds calls, instead of a named format.
     */
    expression?: {
      /**
       * A pattern in RE2's syntax, for example (?s)<search>(?<query>.*?)(</search>|$). Each match is a call: the group `function` is the function's name, `arguments` its arguments as JSON, and any other named group an argument.
       */
      pattern: string;
      /**
       * The function that each match calls, if no group names it.
       */
      function?: string;
      /**
       * An example of the right form. The policy reads it after a call with unreadable arguments.
       */
      example: string;
      /**
       * Texts that end an action, for example </search>. The action's text does not include them.
       *
       * Items: A text that ends an action, for example </search>.
       */
      stop: string[];
    };
    /**
     * Maximum number of trajectories that run at a time.
     */
    concurrency: number;
    /**
     * Folder of an earlier run. Its recorded results answer the tool calls, by task, tool and arguments, and no tool is called. Default: tools are called.
     */
    toolRecordings?: string;
    /**
     * How many versions a trajectory may be behind the policy that trains on it. With 0, steps are synchronous. Above 0, trajectories start as soon as there is room, groups train when they finish, the newest version generates each turn, and the trainer needs an importanceCorrection.
     */
    staleness: number;
    /**
     * Minimum number of finished trajectories in a group. If infrastructure failures leave fewer, another task replaces the group. Default: 2, or 1 if groupSize is 1.
     */
    minGroup?: number;
    /**
     * The run stops if infrastructure failures affect more than this share of a step's trajectories, for example 0.5. With 1, it stops only if they affect all.
     */
    maxInfrastructureFailures: number;
    /**
     * Whether trajectories with tools, assembled turn by turn, must have the same tokens as the chat template's own rendering of the whole conversation. off does not check, warn reports differences, strict rejects the pipeline.
     */
    templateCheck: "off" | "warn" | "strict";
    /**
     * Maximum length of the tasks' prompts. Default: prompts must leave room for an action.
     */
    prompts?: {
      /**
       * Maximum number of tokens in a prompt, including its tools, for example 1024.
       */
      tokens: number;
      /**
       * What to do with tasks whose prompts are longer. leave-out trains and evaluates without them and reports their number; refuse rejects the pipeline. Prompts are never cut.
       */
      overlong: "leave-out" | "refuse";
    };
    observations: Observations;
    /**
     * Limits that end a trajectory before its loop does. It is scored unchanged, as a failure of the policy. Default: no limits.
     */
    limits?: {
      /**
       * Maximum number of actions in a trajectory. The tool calls of the last one are still made.
       */
      turns?: number;
      /**
       * Maximum number of tokens in the whole trajectory: prompt, actions and observations. The last action is cut at this limit.
       */
      tokens?: number;
      turnTime?: Duration;
      time?: Duration;
      /**
       * Ends a trajectory after this number of consecutive tool calls that are unreadable, name an unknown tool, violate its schema, or are invalid for the tool.
       */
      invalidCalls?: number;
    };
    /**
     * Dynamic sampling, as in DAPO. Tasks whose trajectories all earn the same reward teach nothing and are replaced by others within the step; if the trainer compares turns, all their turns must earn the same. Default: off.
     */
    dynamicSampling?: {
      /**
       * Maximum number of sampling rounds in a step, including the first. After them, the step trains on the tasks that it has.
       */
      maxRounds: number;
    };
  };
  /**
   * Greedy evaluations on the validation tasks. One always runs before the first step and after the last.
   */
  evaluation: {
    /**
     * Number of steps between evaluations. 0: none between the first step and the last.
     */
    every: number;
    /**
     * Evaluate on the first n validation tasks.
     */
    tasks: number;
  };
  /**
   * The policy versions that are kept permanently.
   */
  checkpoints: {
    /**
     * Keep the checkpoint of every n-th step. The latest and the last are always kept.
     */
    every: number;
  };
  /**
   * Trackers that receive the results of each step and evaluation, each a plugin of kind tracker. Default: none.
   */
  trackers: PluginUse[];
  /**
   * Conditions of docs/not-learning.md that stop the run as soon as one holds after a step. Default: none; Everturn reports conditions and continues.
   */
  stopIf: StopCondition[];
  /**
   * How long trajectories are kept as single records in addition to the Parquet file of their step.
   */
  retention: {
    /**
     * Number of newest steps that also keep their trajectories as single records. Older steps keep them only in their Parquet file. 0: no step does.
     */
    singleRecords: number;
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
 * An environment plugin, its configuration, and how it is called.
 */
export interface EnvironmentUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  /**
   * Changes of the configuration for the tasks to train on, key by key, for example { split: train }.
   */
  train?: JsonObject;
  /**
   * Changes of the configuration for the held-out tasks, key by key, for example { split: test }.
   */
  validation?: JsonObject;
  /**
   * The tool's functions that the policy can call, in this order, each by its name alone or with overrides. Default: all.
   *
   * @minItems 1
   */
  functions?: FunctionUse[];
  retry?: RetryUse;
  timeout?: Duration;
  rate?: Rate;
  /**
   * How many calls, and how many scores, a worker makes at a time. The others wait in line. Default: the manifest's.
   */
  concurrency?: number;
  observations?: ObservationsUse;
  /**
   * The name of the service that its calls and scores depend on. Default: the plugin's name.
   */
  host?: string;
}
/**
 * A function of a tool with overrides of the tool's own definition.
 */
export interface FunctionUse {
  function: FunctionName;
  /**
   * The name that the policy calls: letters, digits, _ and -, at most 64. Default: the tool's own name.
   */
  name?: string;
  /**
   * The function's description for the policy. Default: the tool's own.
   */
  description?: string;
  /**
   * JSON Schema (draft-07) of its arguments, of type object, instead of the tool's own. The tool must accept everything that it allows.
   */
  parameters?: JsonObject;
}
/**
 * Overrides the retry policy of the plugin's manifest, key by key.
 */
export interface RetryUse {
  /**
   * Maximum number of attempts; 1 means no retry.
   */
  maximumAttempts?: number;
  initialInterval?: Duration;
  /**
   * Each wait is the previous one times this.
   */
  backoffCoefficient?: number;
  maximumInterval?: Duration;
}
/**
 * Overrides of rollout.observations for a tool.
 */
export interface ObservationsUse {
  /**
   * Maximum number of characters in an observation's text.
   */
  characters?: number;
  /**
   * Maximum number of tokens in an observation's text.
   */
  tokens?: number;
  /**
   * The part of a longer observation that is cut: its end, its start, or its middle.
   */
  cut?: "end" | "start" | "middle";
}
/**
 * A tool plugin, its configuration, and overrides of its manifest.
 */
export interface ToolUse {
  plugin: PluginReference;
  /**
   * The tool's name in this run, which identifies its instances, limits and host. The policy calls a tool with one function by this name. Default: the manifest's.
   */
  name?: string;
  /**
   * The tool's functions that the policy can call, in this order, each by its name alone or with overrides. Default: all.
   *
   * @minItems 1
   */
  functions?: FunctionUse[];
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  retry?: RetryUse;
  timeout?: Duration;
  rate?: Rate;
  /**
   * How many calls of the tool a worker makes at a time. The others wait in line. Default: the manifest's.
   */
  concurrency?: number;
  observations?: ObservationsUse;
  /**
   * required: each call waits until a person approves, edits or denies it (`npx everturn approvals`). Default: no call waits.
   */
  approval?: "required";
  approvalTimeout?: Duration;
  /**
   * Who should approve or answer the calls. Shown with each waiting call.
   */
  whom?: string;
  /**
   * The name of the service that the calls depend on. Tools with the same host share its limit, and wait together while it is down. Default: the manifest's, or else the tool's name.
   */
  host?: string;
}
/**
 * How many calls a host of tools accepts at a time, and what happens while it fails.
 */
export interface Host {
  rate?: Rate;
  /**
   * How many calls of all tools on the host a worker makes at a time. The others wait in line. Default: no limit.
   */
  concurrency?: number;
  /**
   * Number of consecutive failures after which the host is paused. Calls then wait for it without using up attempts.
   */
  failures: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  pause: string;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  longestPause: string;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  patience: string;
}
/**
 * A loop plugin, its configuration, and the tools of its tasks: { plugin: name, config: { … }, tools: [ … ] }.
 */
export interface LoopUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  /**
   * The tool functions that the policy can call in this loop's tasks; [] for none. Default: all except those for loops.
   *
   * Items: A function of one of the pipeline's tools, as the policy calls it.
   */
  tools?: string[];
}
/**
 * A reward plugin, its configuration, and overrides of its manifest.
 */
export interface RewardUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  /**
   * The factor of its score in the sum. With 0, the score is only a metric and not part of the reward.
   */
  weight: number;
  /**
   * The name of its metrics if there are several rewards: the score under this name, and its metrics as name.metric. Lower-case letters, digits, _ and -. Default: the plugin's name without reward-.
   */
  name?: string;
  /**
   * Score only tasks with these data sources, for example [openai/gsm8k]. Default: all tasks.
   *
   * @minItems 1
   *
   * Items: A task's data_source.
   */
  dataSources?: string[];
  retry?: RetryUse;
  timeout?: Duration;
  rate?: Rate;
  /**
   * How many trajectories a worker scores at a time. The others wait in line. Default: the manifest's.
   */
  concurrency?: number;
  /**
   * The name of the service that the scores depend on. Tools and rewards with the same host share its limit, and wait together while it is down. Default: the manifest's, or else the plugin's name.
   */
  host?: string;
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
/**
 * How much of an observation the policy reads.
 */
export interface Observations {
  /**
   * Maximum number of characters in an observation's text. A line in it states how many were cut. Default: 8000; with tokens, 16 per token and at least 8000.
   */
  characters?: number;
  /**
   * Maximum number of tokens in an observation's text, for example 1024. A line in it, which counts too, states how many were cut. Default: no limit.
   */
  tokens?: number;
  /**
   * The part of a longer observation that is cut: its end, its start, or its middle.
   */
  cut: "end" | "start" | "middle";
}
