import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { Task } from "./generated/task.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { AgentLoop, LoopContext } from "./loop.ts";
import type { PolicyPlugin } from "./policy.ts";
import type { Score, ScoreRequest, Unscored } from "./reward.ts";
import type { ToolCreation, ToolExecution, ToolResponse } from "./tool.ts";
import type { TrackerPlugin } from "./tracker.ts";
import type { TrainerPlugin } from "./trainer.ts";

/** A library's schema that can be told as JSON Schema: of zod 4, arktype, valibot by `toStandardJsonSchema`. */
export type StandardSchema = StandardSchemaV1 & StandardJSONSchemaV1;

/** A JSON Schema (draft-07) of type object, or a library's schema of an object. */
export type ObjectSchema = StandardSchema | (Exclude<JSONSchema, boolean> & { readonly "~standard"?: never });

/** What the model's arguments are: a library's schema has parsed them, and a JSON Schema has let them through as they are. */
export type ArgumentsOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends JSONSchema
    ? FromSchema<Schema, { keepDefaultedPropertiesOptional: true }>
    : JsonObject;

/** What a configuration is, its defaults filled in. */
export type ConfigOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends JSONSchema
    ? FromSchema<Schema>
    : JsonObject;

/** What every definition may say; the words are those of a manifest. */
export interface Defined<ConfigSchema> {
  /** For example 1.0.0. Default 0.0.0. */
  version?: string;
  /** The schema of the configuration that a pipeline may give. None if left out. */
  config?: ConfigSchema;
  /** What it does beyond computing, shown before a run. Default: nothing. */
  capabilities?: { network?: boolean; files?: boolean; processes?: boolean };
}

/** How something is called. Times are a number and ms, s, m or h, for example 10s. */
export interface DefinedExecution {
  /** How a call is tried again whose infrastructure failed. Default: 5 times, after 100ms, twice as long each time, 5s at most. */
  retry?: {
    maximumAttempts?: number;
    initialInterval?: string;
    backoffCoefficient?: number;
    maximumInterval?: string;
  };
  /** How long one execution may take. Default 10s for a tool, 1m for a reward. */
  timeout?: string;
  /** Calls at once in a worker. Default: no limit. */
  concurrency?: number;
  /** How often a worker begins a call, evenly: a number and /s, /m or /h, for example 10/s. Default: no limit. */
  rate?: string;
  /** What the calls depend on: those who name the same host share its limits. Default: the own name. */
  host?: string;
}

type Configured<Told, Config> = Omit<Told, "config"> & { config: Config };

/** What a tool's instances are, of one function or of several. */
interface DefinedInstances<ConfigSchema, Config, State> extends Defined<ConfigSchema>, DefinedExecution {
  /** Agent loops call it, and the policy is told of it only where a loop's `tools` name it. */
  forLoops?: true;
  /** Each trajectory has an instance. Default: if there is a `create`. */
  stateful?: boolean;
  /** What becomes of an instance whose worker died. Default fail: the trajectory is left out. */
  recovery?: "snapshot" | "replay" | "fail";
  create?(creation: Configured<ToolCreation, Config>): Promise<State> | State;
  /** Default: nothing has to be freed. */
  release?(state: State): Promise<void> | void;
  snapshot?(state: State): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  restore?(snapshot: Uint8Array, creation: Configured<ToolCreation, Config>): Promise<State> | State;
  reap?(handle: JsonValue, config: Config): Promise<void> | void;
  probe?(config: Config): Promise<void> | void;
}

/** A function of a tool: what the policy is told, and what it does. */
export interface DefinedFunction<Parameters, Given, Config, State> {
  /** What it does, for the policy. */
  description: string;
  parameters: Parameters;
  execute(
    parameters: Given,
    execution: Configured<ToolExecution, Config>,
    state: State,
  ): Promise<ToolResponse | JsonValue> | ToolResponse | JsonValue;
}

/**
 * A tool in one file: what the policy is told, how it is called, and what it does. `Given` and `Config` are what the
 * schemas `Parameters` and `ConfigSchema` describe.
 */
export interface DefinedTool<Parameters, Given, ConfigSchema, Config, State>
  extends DefinedInstances<ConfigSchema, Config, State>,
    DefinedFunction<Parameters, Given, Config, State> {
  /** What the policy calls it: letters, digits, _ and -. */
  name: string;
}

/** A tool of several functions that share each trajectory's instance. `Schemas`: the parameters of each function. */
export interface DefinedToolset<Schemas, ConfigSchema, Config, State>
  extends DefinedInstances<ConfigSchema, Config, State> {
  /** What they have in common: by it go the instances, limits and the host. Letters, digits, _ and -. */
  name: string;
  /** By what the policy calls them: letters, digits, _ and -. */
  functions: {
    [Name in keyof Schemas]: DefinedFunction<Schemas[Name], ArgumentsOf<Schemas[Name]>, Config, State>;
  };
}

/** A reward manager in one file. */
export interface DefinedReward<ConfigSchema, Config> extends Defined<ConfigSchema>, DefinedExecution {
  /** Default: the file's. */
  name?: string;
  /** It only computes, and quickly: it is asked where the workflow runs. Default false. */
  pure?: boolean;
  /** It is given the tools' last snapshots. Default false. */
  snapshots?: boolean;
  score(request: Configured<ScoreRequest, Config>): Promise<Score | Unscored> | Score | Unscored;
}

/** A data set in one file. */
export interface DefinedDataset<ConfigSchema, Config> extends Defined<ConfigSchema> {
  /** Default: the file's. */
  name?: string;
  /** Reads every task, in a stable order. */
  load(config: Config): Promise<Task[]> | Task[];
}

/** A tracker in one file. */
export interface DefinedTracker<ConfigSchema, Config> extends Defined<ConfigSchema>, TrackerPlugin<Config> {
  /** Default: the file's. */
  name?: string;
}

/** An agent loop in one file. */
export interface DefinedLoop<ConfigSchema, Config> extends Defined<ConfigSchema> {
  /** Default: the file's. */
  name?: string;
  /** One turn, deterministic code: how the trajectory ended, or "continue". */
  turn(context: Configured<LoopContext, Config>): ReturnType<AgentLoop>;
}

/** A policy in one file: what a policy plugin does, and what its manifest says. */
export type DefinedPolicy = Defined<ObjectSchema> & { name?: string } & PolicyPlugin;

/** A trainer in one file. */
export type DefinedTrainer = Defined<ObjectSchema> & { name?: string } & TrainerPlugin;
