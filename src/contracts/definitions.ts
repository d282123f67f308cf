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

/** A library's schema that converts to JSON Schema: zod 4, arktype, or valibot with `toStandardJsonSchema`. */
export type StandardSchema = StandardSchemaV1 & StandardJSONSchemaV1;

/** A JSON Schema (draft-07) of type object, or a library's schema of an object. */
export type ObjectSchema = StandardSchema | (Exclude<JSONSchema, boolean> & { readonly "~standard"?: never });

/**
 * The type of the model's arguments: the parsed output of a library's schema, or the values that a JSON Schema
 * accepts.
 */
export type ArgumentsOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends JSONSchema
    ? FromSchema<Schema, { keepDefaultedPropertiesOptional: true }>
    : JsonObject;

/** The type of a configuration, with its defaults filled in. */
export type ConfigOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends JSONSchema
    ? FromSchema<Schema>
    : JsonObject;

/** Properties of every definition, named as in a manifest. */
export interface Defined<ConfigSchema> {
  /** For example 1.0.0. Default 0.0.0. */
  version?: string;
  /** The schema of the plugin's configuration. Default: the plugin takes none. */
  config?: ConfigSchema;
  /** What the plugin can access, shown before a run. Default: nothing. */
  capabilities?: { network?: boolean; files?: boolean; processes?: boolean };
}

/** How calls are executed. A time is a number and ms, s, m or h, for example 10s. */
export interface DefinedExecution {
  /**
   * How a call is retried after an infrastructure failure. Default: 5 attempts, after 100ms, then doubling, at
   * most 5s.
   */
  retry?: {
    maximumAttempts?: number;
    initialInterval?: string;
    backoffCoefficient?: number;
    maximumInterval?: string;
  };
  /** Time limit of one execution. Default: 10s for a tool, 1m for a reward. */
  timeout?: string;
  /** Concurrent calls per worker. Default: no limit. */
  concurrency?: number;
  /**
   * How often a worker begins a call, at even intervals: a number and /s, /m or /h, for example 10/s. Default:
   * no limit.
   */
  rate?: string;
  /** The service that the calls depend on. Plugins with the same host share its limits. Default: the plugin's name. */
  host?: string;
}

type Configured<Told, Config> = Omit<Told, "config"> & { config: Config };

/** The instances of a tool with one or several functions. */
interface DefinedInstances<ConfigSchema, Config, State> extends Defined<ConfigSchema>, DefinedExecution {
  /** For agent loops: hidden from the policy unless a loop's `tools` list it. */
  forLoops?: true;
  /** Each trajectory has its own instance. Default: true if `create` is defined. */
  stateful?: boolean;
  /** What happens to an instance when its worker dies. Default: fail, which leaves the trajectory out. */
  recovery?: "snapshot" | "replay" | "fail";
  create?(creation: Configured<ToolCreation, Config>): Promise<State> | State;
  /** Frees the instance. Default: does nothing. */
  release?(state: State): Promise<void> | void;
  snapshot?(state: State): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  restore?(snapshot: Uint8Array, creation: Configured<ToolCreation, Config>): Promise<State> | State;
  reap?(handle: JsonValue, config: Config): Promise<void> | void;
  probe?(config: Config): Promise<void> | void;
}

/** A function of a tool: its definition for the policy, and its implementation. */
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
 * A tool in one file: its definition for the policy, how it is called, and its implementation. `Given` and `Config` are
 * the types that the schemas `Parameters` and `ConfigSchema` describe.
 */
export interface DefinedTool<Parameters, Given, ConfigSchema, Config, State>
  extends DefinedInstances<ConfigSchema, Config, State>,
    DefinedFunction<Parameters, Given, Config, State> {
  /** The name that the policy calls: letters, digits, _ and -. */
  name: string;
}

/** A tool with several functions that share one instance per trajectory. `Schemas`: the parameters of each function. */
export interface DefinedToolset<Schemas, ConfigSchema, Config, State>
  extends DefinedInstances<ConfigSchema, Config, State> {
  /** The common name, which identifies instances, limits and the host: letters, digits, _ and -. */
  name: string;
  /** The functions, by the names that the policy calls: letters, digits, _ and -. */
  functions: {
    [Name in keyof Schemas]: DefinedFunction<Schemas[Name], ArgumentsOf<Schemas[Name]>, Config, State>;
  };
}

/** A reward manager in one file. */
export interface DefinedReward<ConfigSchema, Config> extends Defined<ConfigSchema>, DefinedExecution {
  /** Default: the file's name. */
  name?: string;
  /** It only computes, and quickly, so it runs where the workflow runs. Default: false. */
  pure?: boolean;
  /** It receives the tools' last snapshots. Default: false. */
  snapshots?: boolean;
  score(request: Configured<ScoreRequest, Config>): Promise<Score | Unscored> | Score | Unscored;
}

/** A data set in one file. */
export interface DefinedDataset<ConfigSchema, Config> extends Defined<ConfigSchema> {
  /** Default: the file's name. */
  name?: string;
  /** Reads every task, in a stable order. */
  load(config: Config): Promise<Task[]> | Task[];
}

/** A tracker in one file. */
export interface DefinedTracker<ConfigSchema, Config> extends Defined<ConfigSchema>, TrackerPlugin<Config> {
  /** Default: the file's name. */
  name?: string;
}

/** An agent loop in one file. */
export interface DefinedLoop<ConfigSchema, Config> extends Defined<ConfigSchema> {
  /** Default: the file's name. */
  name?: string;
  /** Runs one turn with deterministic code. Returns the trajectory's outcome, or "continue". */
  turn(context: Configured<LoopContext, Config>): ReturnType<AgentLoop>;
}

/** A policy in one file: the plugin together with its manifest's properties. */
export type DefinedPolicy = Defined<ObjectSchema> & { name?: string } & PolicyPlugin;

/** A trainer in one file. */
export type DefinedTrainer = Defined<ObjectSchema> & { name?: string } & TrainerPlugin;
