import type { Pipeline } from "./generated/pipeline.ts";
import type { PluginManifest } from "./generated/plugin.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ToolDefinition } from "./message.ts";
import type { RetrySettings } from "./trajectory.ts";

/** A plugin of a plan, with its manifest checked and its configuration validated and completed with defaults. */
export interface ResolvedPlugin {
  name: string;
  version: string;
  /** The package's name, which a pipeline may use. Set for a folder with a package.json. */
  package?: string;
  /** Absolute folder of the package. */
  folder: string;
  /** Absolute path of the module whose default export is the plugin. */
  entry: string;
  manifest: PluginManifest;
  config: JsonObject;
  /** For a plugin in one file, whose manifest was derived from it. */
  source?: PluginSource;
  /** The pipeline's name for a tool, if it differs from the manifest's. */
  tool?: string;
  /** The functions of a tool that the policy may call, if they differ from the manifest's. */
  functions?: OfferedFunction[];
}

/** A function of a tool, as the policy sees it. */
export interface OfferedFunction extends ToolDefinition {
  /** The tool's own definition of the function, if the pipeline changes it. */
  own?: { name: string; parameters: JsonObject };
  /** For agent loops: hidden from the policy unless a loop's tools list it. Default: the manifest's. */
  forLoops?: true;
}

/** The module that a plugin was defined in, when the plan was made. */
export interface PluginSource {
  /** The export that defines it. */
  export: string;
  /**
   * For a plain function: the names of its arguments in order, the rest as `...name`; or "object" if it takes them as
   * one object.
   */
  positions?: string[] | "object";
  /** SHA-256 of the module and of the modules that it imports, without packages, by absolute path. */
  files: Record<string, string>;
}

/** A loop plugin also brings a module that runs inside the trajectory workflow. */
export interface ResolvedLoop extends ResolvedPlugin {
  workflow: string;
  /** Functions that the policy may call in its tasks. Default: all except those for loops. */
  tools?: string[];
}

/** How a plugin is called, from the pipeline's settings and then the manifest's. Times in milliseconds. */
export interface ExecutionSettings {
  retry: RetrySettings;
  timeout: number;
  /** Concurrent calls per worker. Default: no limit. */
  concurrency?: number;
  /** How often a worker begins a call, for example 10/s. Default: no limit. */
  rate?: string;
  /** Default: the plugin's own name. */
  host: string;
}

/** How much of an observation the policy reads, and which part is cut if it is longer. */
export interface ObservationLimit {
  /** Default: 8,000, or the most characters that `tokens` can have. */
  characters?: number;
  /** Counted as the policy encodes the text. */
  tokens?: number;
  cut: "end" | "start" | "middle";
}

/** A tool, and how it is called. */
export interface ResolvedTool extends ResolvedPlugin, ExecutionSettings {
  /** Differences from `rollout.observations` for this tool. */
  observations?: Partial<ObservationLimit>;
  /** Each call waits until a person decides about it or answers it, for at most `timeout` milliseconds. */
  approval?: { timeout?: number; whom?: string };
}

/** A reward manager, how it is called, and the weight of its score. */
export interface ResolvedReward extends ResolvedPlugin {
  calls: ExecutionSettings;
  /** 0: its score is only a metric. */
  weight: number;
  /** The prefix of its metrics in a list of rewards. Absent: its metrics keep their names. */
  part?: string;
  /** The data sources whose tasks it scores. Default: all. */
  dataSources?: string[];
}

/** A host of tools and rewards; times in milliseconds. */
export interface HostSettings {
  /** Concurrent calls per worker, over all tools on the host. Default: no limit. */
  concurrency?: number;
  /** How often a worker begins a call to the host, for example 10/s. Default: no limit. */
  rate?: string;
  /** Consecutive failures that pause the host. */
  failures: number;
  /** The first pause. After each failed probe the pause doubles, up to the longest. */
  pause: number;
  longestPause: number;
  /** How long calls wait for the host in total. */
  patience: number;
}

/** The tasks of a run. */
export interface ResolvedDataset extends Pick<Pipeline["dataset"], "mix" | "images"> {
  /** Rows (from 0) whose prompts have more tokens than `rollout.prompts` allows. Absent if none. */
  leftOut?: { train: readonly number[]; validation: readonly number[] };
  /** Absent if steps train on examples. */
  train?: ResolvedPlugin;
  validation: ResolvedPlugin;
}

/** A trainer, which may have a loss plugin of the user's. */
export interface ResolvedTrainer extends ResolvedPlugin {
  loss?: ResolvedPlugin;
  /** From the trainer (ResolvedTraining). */
  comparesTurns?: boolean;
  /** From the trainer (ResolvedTraining). Absent if its steps are not divided. */
  portions?: number;
}

/** Settings with their defaults filled in. The keys in `Off` may be absent, which turns them off. */
type Filled<Settings, Off extends keyof Settings> = Required<Omit<Settings, Off>> & Pick<Settings, Off>;

/** A tool that demonstrations show to the policy, as their prompts show it. */
export interface DemonstratedTool extends ToolDefinition {
  /** Some demonstrations do not show it. */
  sometimes?: true;
}

/**
 * A validated pipeline with its defaults filled in, plugins resolved and paths made absolute. A run stores it
 * unchanged.
 */
export interface Plan {
  pipelineFile: string;
  name: string;
  seed: number;
  steps: number;
  policy: ResolvedPlugin;
  dataset: ResolvedDataset;
  tools: ResolvedTool[];
  /** The hosts of tools and rewards that the pipeline configures. */
  hosts: Record<string, HostSettings>;
  /** The loop of tasks without an `agent_name`. */
  loop: ResolvedLoop;
  /** The loops of other tasks, by their `agent_name`. */
  loops?: Record<string, ResolvedLoop>;
  rewards: ResolvedReward[];
  trainer: ResolvedTrainer;
  warmStart?: Required<NonNullable<Pipeline["warmStart"]>>;
  /** Replaces rollouts. At most one of the two is set. Their epochs have become steps. */
  sft?: Required<Omit<NonNullable<Pipeline["sft"]>, "epochs">>;
  dpo?: Required<Omit<NonNullable<Pipeline["dpo"]>, "epochs">>;
  /**
   * SHA-256 of the files that the three settings name, by path. Absent if they name none, and in plans of earlier
   * releases.
   */
  exampleDigests?: Record<string, string>;
  /**
   * The tools that the prompts of demonstrations show, in the order of the first prompt. The prompts of an agent show
   * the same tools in this order and form. Absent without demonstrations, without an agent, and in plans of
   * earlier releases.
   */
  demonstratedTools?: DemonstratedTool[];
  /**
   * How often a demonstration of the warm start calls each function on average, among those that call any. Absent if
   * none does, and in plans of earlier releases.
   */
  demonstratedCalls?: Record<string, number>;
  /**
   * SHA-256 of the modules that the plugins' configurations name, and of those that they import, by absolute path.
   * Absent if there are none, and in plans of earlier releases.
   */
  moduleDigests?: Record<string, string>;
  rollout: Filled<
    NonNullable<Pipeline["rollout"]>,
    "dynamicSampling" | "toolRecordings" | "minGroup" | "limits" | "prompts" | "format" | "expression"
  >;
  evaluation: Required<NonNullable<Pipeline["evaluation"]>>;
  checkpoints: Required<NonNullable<Pipeline["checkpoints"]>>;
  retention: Required<NonNullable<Pipeline["retention"]>>;
  /** The trackers that receive the results of steps and evaluations. Absent if none. */
  trackers?: ResolvedPlugin[];
  /** The conditions that stop the run. Absent if none. */
  stopIf?: Pipeline["stopIf"];
  /** The changes since the run began, in order. Absent if none. */
  changes?: PlanChange[];
}

/** A change of a run's plan (`everturn resume --set`). */
export interface PlanChange {
  /** ISO 8601. */
  at: string;
  /** The number of steps recorded at that time. The next one may have begun. */
  step: number;
  /** By the pipeline's dotted keys. An absent value means that the setting was or is off. */
  changed: { key: string; from?: JsonValue | undefined; to?: JsonValue | undefined }[];
}
