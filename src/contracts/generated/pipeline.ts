// Generated from schemas/pipeline.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A plugin's name, its package's name in quotes ("@acme/tool-search"), or a path that begins with ./ or ../: of its folder, or of the module that defines it (./tools/length.ts)
 */
export type PluginReference = string;
/**
 * The name that the tool has for the function.
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
 * Reward plugins whose scores are added up by their weights; each is logged under its name, too.
 *
 * @minItems 1
 */
export type RewardList = RewardUse[];

/**
 * What a run is made of. Paths are relative to the pipeline file.
 */
export interface Pipeline {
  /**
   * A pipeline beside this one, which this one goes over: mappings are merged, all else is replaced, null takes away.
   */
  extends?: string;
  /**
   * Mappings by name, of which others begin: where a mapping says use: NAME, it is this block with its own keys over it.
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
   * How many steps to take, for example 40. 0 stops after the warm start. May be left out where sft or dpo says its epochs.
   */
  steps?: number;
  policy: PluginUse;
  /**
   * The tasks to train on and the held-out tasks to evaluate on.
   */
  dataset: {
    train?: PluginUse;
    validation: PluginUse;
    /**
     * The folder below which the images lie that prompts show by their paths, for policies that read images.
     */
    images?: string;
    /**
     * How many of each step's groups are of each data source (data_source of the tasks), as weights: { gsm8k: 3, math: 1 } makes three of four from gsm8k. Each source is shuffled by itself; every one is named, and 0 leaves one out. If left out, all tasks are shuffled together.
     */
    mix?: {
      /**
       * The weight of this data source.
       */
      [k: string]: number;
    };
  };
  /**
   * The tools that the policy may call, each a plugin of kind tool. None by default.
   */
  tools: ToolUse[];
  /**
   * Limits of the hosts of tools and of the reward manager by name, for hosts that need others than the defaults.
   */
  hosts: {
    [k: string]: Host;
  };
  loop: LoopUse;
  /**
   * Loops by name, for the tasks whose agent_name it is. None if left out.
   */
  loops?: {
    [k: string]: LoopUse;
  };
  reward: Rewards;
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
     * Peak learning rate of the supervised steps, for example 1e-3. Default: the trainer's; of trainer-onnx 2e-5 where all weights of a pretrained model are trained, 2e-4 with LoRA, 1e-3 from random weights.
     */
    learningRate?: number;
  };
  /**
   * Steps on demonstrations, in place of rollouts: the assistant's tokens carry the loss.
   */
  sft?: {
    /**
     * A JSON Lines file of demonstrations, each {"messages": […]}.
     */
    demonstrations: string;
    /**
     * Demonstrations in an update.
     */
    batchSize: number;
    /**
     * Updates in a step. After each step a version is there, with its line of metrics; a trainer that dies repeats a step at most.
     */
    updates: number;
    /**
     * Passes over the file, for example 3, rounded up to whole steps. Where the pipeline gives steps, these count.
     */
    epochs?: number;
    /**
     * So many rows of the file, drawn by the seed, are not trained on: their loss is measured after each step.
     */
    heldOut: number;
    /**
     * Peak learning rate: it rises over the first 8 % of the updates and falls to 5 % by the last one (cosine). Default: the trainer's; of trainer-onnx 2e-5 where all weights of a pretrained model are trained, 2e-4 with LoRA, 1e-3 from random weights.
     */
    learningRate?: number;
  };
  /**
   * Steps on pairs of answers, in place of rollouts: the preferred one becomes likelier than the other, held to the policy that the steps begin with.
   */
  dpo?: {
    /**
     * A JSON Lines file of pairs, each {"prompt": […], "chosen": […], "rejected": […]}: messages, as TRL has them and `everturn trajectories RUN --as preferences` writes them.
     */
    preferences: string;
    /**
     * Pairs in an update.
     */
    batchSize: number;
    /**
     * Updates in a step. After each step a version is there, with its line of metrics; a trainer that dies repeats a step at most.
     */
    updates: number;
    /**
     * Passes over the file, for example 3, rounded up to whole steps. Where the pipeline gives steps, these count.
     */
    epochs?: number;
    /**
     * So many rows of the file, drawn by the seed, are not trained on: their loss is measured after each step.
     */
    heldOut: number;
    /**
     * Peak learning rate: it rises over the first 8 % of the updates and falls to 5 % by the last one (cosine). Default: the trainer's; of trainer-onnx 1e-6 where all weights of a pretrained model are trained, 1e-4 with LoRA or from random weights.
     */
    learningRate?: number;
    /**
     * How strongly the policy is held to the one that the steps begin with.
     */
    beta: number;
    /**
     * sigmoid is DPO's; ipo is that of identity preference optimization, over mean log-probabilities of tokens.
     */
    loss: "sigmoid" | "ipo";
    /**
     * The share of pairs that are taken to be the wrong way round (conservative DPO). With the loss sigmoid.
     */
    labelSmoothing: number;
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
     * How the policy writes thoughts, calls and answers, for example qwen3-coder (docs/formats.md). Default: as its chat template writes calls, or hermes if it writes none.
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
     * A regular expression that finds calls, in place of a format that has a name.
     */
    expression?: {
      /**
       * In RE2's syntax, for example (?s)<search>(?<query>.*?)(</search>|$). Each match is a call: its group `function` is the function's name, `arguments` its arguments as JSON, any other named group an argument.
       */
      pattern: string;
      /**
       * What each match calls, where no group says it.
       */
      function?: string;
      /**
       * How a call is written, as the policy is told whose arguments can't be read.
       */
      example: string;
      /**
       * An action ends where it has one of these, for example </search>. Its text ends before it.
       *
       * Items: A text that ends an action, for example </search>.
       */
      stop: string[];
    };
    /**
     * How many trajectories run at the same time.
     */
    concurrency: number;
    /**
     * Folder of an earlier run whose recorded results answer the tool calls, by task, tool and arguments; no tool is called. Tools are called if left out.
     */
    toolRecordings?: string;
    /**
     * How many versions a trajectory may be behind the policy that trains on it. 0: steps are synchronous. Above 0, trajectories start as there is room, groups train as they finish, and each turn is generated by the newest version; the trainer needs an importanceCorrection.
     */
    staleness: number;
    /**
     * A group goes on without members that infrastructure failed, if so many finished; else another task takes its place. Default: 2, or 1 if groupSize is 1.
     */
    minGroup?: number;
    /**
     * The run stops when infrastructure fails more than this share of a step's trajectories, for example 0.5. 1: only when it fails all.
     */
    maxInfrastructureFailures: number;
    /**
     * Whether trajectories with tools, put together turn by turn, have the tokens of the chat template's own rendering of their whole conversation: off doesn't look, warn tells where they differ, strict refuses the pipeline.
     */
    templateCheck: "off" | "warn" | "strict";
    /**
     * How long the prompts of tasks may be. As long as there is room for an action if left out.
     */
    prompts?: {
      /**
       * How many tokens a prompt may have, as the policy reads it with its tools, for example 1024.
       */
      tokens: number;
      /**
       * What becomes of tasks with longer ones: leave-out trains and evaluates without them, and says how many; refuse refuses the pipeline. A prompt is never cut.
       */
      overlong: "leave-out" | "refuse";
    };
    observations: Observations;
    /**
     * What ends a trajectory before its loop does. It is scored as it is, as a failure of the policy. No limits if left out.
     */
    limits?: {
      /**
       * Actions that a trajectory may take; the tool calls of the last one are still made.
       */
      turns?: number;
      /**
       * Tokens of the whole trajectory: prompt, actions and observations. The last action is cut at it.
       */
      tokens?: number;
      turnTime?: Duration;
      time?: Duration;
      /**
       * Ends a trajectory after so many tool calls in a row that were unreadable, of no known tool, against its schema, or invalid for the tool.
       */
      invalidCalls?: number;
    };
    /**
     * DAPO's: tasks whose trajectories all earn the same (where the trainer compares turns, all of their turns) teach nothing, and are replaced by others within the step. Off if left out.
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
     * Evaluate after each so many steps; 0: not between the first step and the last.
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
  /**
   * What is told of each step and evaluation as it ends, each a plugin of kind tracker. None by default.
   */
  trackers: PluginUse[];
  /**
   * What stays of trajectories beside the Parquet file of their step.
   */
  retention: {
    /**
     * The newest so many steps keep their trajectories record by record, too; older ones have them in their step's Parquet file alone. 0: none does.
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
 * A tool plugin, its configuration, and what overrides its manifest.
 */
export interface ToolUse {
  plugin: PluginReference;
  /**
   * What the tool is called in this run: by it go its instances, its limits and its host. The policy calls a tool of one function by it. The manifest's if left out.
   */
  name?: string;
  /**
   * Which of the tool's functions the policy may call, in this order, each by its name alone or with what is said of it otherwise than the tool does. All if left out.
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
   * How many calls of the tool a worker makes at once; the others wait in line. The manifest's if left out.
   */
  concurrency?: number;
  observations?: ObservationsUse;
  /**
   * required: each call waits until a person approves, edits or denies it (`npx everturn approvals`). No call waits if left out.
   */
  approval?: "required";
  approvalTimeout?: Duration;
  /**
   * Who is to decide about its calls, or to answer them: shown where they wait.
   */
  whom?: string;
  /**
   * Names what the calls depend on. Tools that name the same host share its limit, and wait together while it is down. The manifest's if left out, else the tool's name.
   */
  host?: string;
}
/**
 * A function of a tool, and what is said of it otherwise than the tool does.
 */
export interface FunctionUse {
  function: FunctionName;
  /**
   * What the policy calls it: letters, digits, _ and -, at most 64. The tool's own name for it if left out.
   */
  name?: string;
  /**
   * What the policy is told that it does. What the tool says if left out.
   */
  description?: string;
  /**
   * JSON Schema (draft-07) of its arguments, of type object, in place of the tool's own: what it lets through must be something that the tool takes.
   */
  parameters?: JsonObject;
}
/**
 * Overrides the retry policy of the plugin's manifest, key by key.
 */
export interface RetryUse {
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
}
/**
 * What of rollout.observations is otherwise for a tool.
 */
export interface ObservationsUse {
  /**
   * How many characters of an observation's text stay.
   */
  characters?: number;
  /**
   * How many tokens of an observation's text stay, as the policy reads it.
   */
  tokens?: number;
  /**
   * Which part of a longer one goes: its end, its start, or its middle.
   */
  cut?: "end" | "start" | "middle";
}
/**
 * How many calls a host of tools takes at once, and what happens while it fails.
 */
export interface Host {
  rate?: Rate;
  /**
   * How many calls a worker makes at once of all tools on the host; the others wait in line. No limit if left out.
   */
  concurrency?: number;
  /**
   * After so many failures in a row the host is paused: calls wait for it, and no attempt is spent.
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
   * What of the run's tools the policy may call in its tasks, by the names of their functions; [] for none. All if left out, but those that are for loops.
   *
   * Items: A function of one of the pipeline's tools, as the policy calls it.
   */
  tools?: string[];
}
/**
 * A reward plugin, its configuration, and what overrides its manifest.
 */
export interface RewardUse {
  plugin: PluginReference;
  /**
   * The plugin's configuration, checked against the schema in its manifest.
   */
  config: JsonObject;
  /**
   * What its score is multiplied with before the scores are added up. 0: it is a metric, and no part of the reward.
   */
  weight: number;
  /**
   * What the metrics of one in a list are called: its score by this name, what it measures as name.metric. Lower-case letters, digits, _ and -. The plugin's name without reward- if left out.
   */
  name?: string;
  /**
   * It scores the tasks with these in data_source alone, for example [openai/gsm8k]. All tasks if left out.
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
   * How many trajectories a worker has scored at once; the others wait in line. The manifest's if left out.
   */
  concurrency?: number;
  /**
   * Names what the scores depend on. Tools and rewards that name the same host share its limit, and wait together while it is down. The manifest's if left out, else the plugin's name.
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
   * How many characters of an observation's text stay. A line in it says how many were cut. Default: 8000; with tokens 16 for each of them, and 8000 at least.
   */
  characters?: number;
  /**
   * How many tokens of an observation's text stay, as the policy reads it, for example 1024. A line in it says how many were cut, and is among them. No limit if left out.
   */
  tokens?: number;
  /**
   * Which part of a longer one goes: its end, its start, or its middle.
   */
  cut: "end" | "start" | "middle";
}
