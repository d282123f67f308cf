import type { Pipeline } from "./generated/pipeline.ts";
import type { PluginManifest } from "./generated/plugin.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ToolDefinition } from "./message.ts";
import type { RetrySettings } from "./trajectory.ts";

/** A plugin of a plan: found, its manifest checked, its configuration validated with defaults filled in. */
export interface ResolvedPlugin {
  name: string;
  version: string;
  /** The name of the package that it is, by which a pipeline may have named it; of a folder with a package.json. */
  package?: string;
  /** Absolute folder of the package. */
  folder: string;
  /** Absolute path of the module whose default export is the plugin. */
  entry: string;
  manifest: PluginManifest;
  config: JsonObject;
  /** Of a plugin in one file, whose manifest was derived from it. */
  source?: PluginSource;
  /** What the pipeline calls a tool, where its manifest calls it otherwise. */
  tool?: string;
  /** What the policy may call of a tool, where the manifest alone does not say it. */
  functions?: OfferedFunction[];
}

/** A function of a tool, as the policy sees it. */
export interface OfferedFunction extends ToolDefinition {
  /** The function as the tool has it, where the pipeline says something of it. */
  own?: { name: string; parameters: JsonObject };
}

/** The module that a plugin was defined in, when the plan was made. */
export interface PluginSource {
  /** The export that defines it. */
  export: string;
  /** Of a plain function: its arguments in order, by name, the rest as `...name`; or that it takes them as one object. */
  positions?: string[] | "object";
  /** SHA-256 of the module and of those that it imports, packages aside, by absolute path. */
  files: Record<string, string>;
}

/** A loop plugin also brings a module that runs inside the trajectory workflow. */
export interface ResolvedLoop extends ResolvedPlugin {
  workflow: string;
  /** Functions that the policy may call in its tasks. Absent: all but those that are for loops. */
  tools?: string[];
}

/** How a plugin is called: what is in force of manifest and pipeline, which goes first; times in milliseconds. */
export interface ExecutionSettings {
  retry: RetrySettings;
  timeout: number;
  /** Calls at once in a worker; no limit if absent. */
  concurrency?: number;
  /** How often a worker begins one, for example 10/s; no limit if absent. */
  rate?: string;
  /** Default: the plugin's own name. */
  host: string;
}

/** How much of an observation the policy reads, and which part goes if there is more. */
export interface ObservationLimit {
  /** Default: 8,000, or as many as `tokens` may have. */
  characters?: number;
  /** As the policy encodes its text. */
  tokens?: number;
  cut: "end" | "start" | "middle";
}

/** A tool, and how it is called. */
export interface ResolvedTool extends ResolvedPlugin, ExecutionSettings {
  /** What is otherwise for this tool than `rollout.observations` says. */
  observations?: Partial<ObservationLimit>;
  /** Each call waits until a person decides about it, or answers it, `timeout` milliseconds at most. */
  approval?: { timeout?: number; whom?: string };
}

/** A reward manager, how it is called, and what its score counts for. */
export interface ResolvedReward extends ResolvedPlugin {
  calls: ExecutionSettings;
  /** 0: its score is a metric alone. */
  weight: number;
  /** What its metrics are called, in a list of several. Absent: its metrics are called as it says. */
  part?: string;
  /** It scores the tasks of these alone; all if absent. */
  dataSources?: string[];
}

/** A host of tools and rewards; times in milliseconds. */
export interface HostSettings {
  /** Calls at once in a worker, of all tools on the host; no limit if absent. */
  concurrency?: number;
  /** How often a worker begins one of them, for example 10/s; no limit if absent. */
  rate?: string;
  /** Failures in a row that pause it. */
  failures: number;
  /** The first pause; each one that a failing probe ends is followed by one of twice the length, up to the longest. */
  pause: number;
  longestPause: number;
  /** How long calls wait for it in all. */
  patience: number;
}

/** The tasks of a run. */
export interface ResolvedDataset extends Pick<Pipeline["dataset"], "mix" | "images"> {
  /** Rows, from 0, whose prompts have more tokens than `rollout.prompts` gives them; none if absent. */
  leftOut?: { train: readonly number[]; validation: readonly number[] };
  /** Absent where steps train on examples. */
  train?: ResolvedPlugin;
  validation: ResolvedPlugin;
}

/** A trainer may bring a loss of the user's. */
export interface ResolvedTrainer extends ResolvedPlugin {
  loss?: ResolvedPlugin;
  /** As the trainer said (ResolvedTraining). */
  comparesTurns?: boolean;
}

/** Defaults filled in; what stands in `Off` is off if left out. */
type Filled<Settings, Off extends keyof Settings> = Required<Omit<Settings, Off>> & Pick<Settings, Off>;

/** A pipeline validated, defaults filled, plugins resolved, paths absolute; frozen in the run. */
export interface Plan {
  pipelineFile: string;
  name: string;
  seed: number;
  steps: number;
  policy: ResolvedPlugin;
  dataset: ResolvedDataset;
  tools: ResolvedTool[];
  /** Hosts of tools and rewards that the pipeline says something of. */
  hosts: Record<string, HostSettings>;
  /** Of tasks without an `agent_name`. */
  loop: ResolvedLoop;
  /** By the `agent_name` of their tasks. */
  loops?: Record<string, ResolvedLoop>;
  rewards: ResolvedReward[];
  trainer: ResolvedTrainer;
  warmStart?: Required<NonNullable<Pipeline["warmStart"]>>;
  /** In place of rollouts; at most one of the two. Their epochs have become steps. */
  sft?: Required<Omit<NonNullable<Pipeline["sft"]>, "epochs">>;
  dpo?: Required<Omit<NonNullable<Pipeline["dpo"]>, "epochs">>;
  /** SHA-256 of the files that the three name, by path. Absent of none, and in plans of earlier releases. */
  exampleDigests?: Record<string, string>;
  rollout: Filled<
    NonNullable<Pipeline["rollout"]>,
    "dynamicSampling" | "toolRecordings" | "minGroup" | "limits" | "prompts" | "format" | "expression"
  >;
  evaluation: Required<NonNullable<Pipeline["evaluation"]>>;
  checkpoints: Required<NonNullable<Pipeline["checkpoints"]>>;
  retention: Required<NonNullable<Pipeline["retention"]>>;
  /** What is told of steps and evaluations as they end. Absent if nothing is. */
  trackers?: ResolvedPlugin[];
  /** How it was changed since the run began, in order. Absent if it never was. */
  changes?: PlanChange[];
}

/** A change of a run's plan (`everturn resume --set`). */
export interface PlanChange {
  /** ISO 8601. */
  at: string;
  /** Steps that were recorded then; the next one may have begun. */
  step: number;
  /** By dotted keys, as the pipeline calls them; a value that is absent was, or is, off. */
  changed: { key: string; from?: JsonValue | undefined; to?: JsonValue | undefined }[];
}
