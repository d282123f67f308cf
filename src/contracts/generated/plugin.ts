// Generated from schemas/plugin.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A JSON Schema (draft-07) whose type is object.
 */
export type ObjectSchema = JsonObject;
/**
 * A number and /s, /m or /h, for example 10/s or 60/m.
 */
export type Rate = string;
/**
 * A number and ms, s, m or h, for example 500ms, 10s or 2m.
 */
export type Duration = string;

/**
 * everturn.plugin.json: the manifest of a plugin package.
 */
export interface PluginManifest {
  /**
   * The location of this schema, for editors.
   */
  $schema?: string;
  /**
   * The name that pipelines use, by convention <kind>-<name>: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * The part of a pipeline that the plugin provides.
   */
  kind: "tool" | "reward" | "loop" | "policy" | "trainer" | "loss" | "dataset" | "tracker" | "environment";
  /**
   * The plugin's version, for example 0.1.0.
   */
  version: string;
  /**
   * The Everturn versions that the plugin works with.
   */
  engines: {
    /**
     * A version range: ^0.1.0, ~0.1.2, >=0.1.0 <0.3.0, ^0.2.0-rc.1, 0.1.0 or *, and alternatives joined by ||.
     */
    everturn: string;
  };
  /**
   * The module whose default export is the plugin, relative to the manifest, for example ./index.ts. Every kind except loop needs it.
   */
  entry?: string;
  /**
   * A loop's module of workflow code, whose default export is the agent loop, for example ./workflow.ts.
   */
  workflow?: string;
  config?: ObjectSchema;
  /**
   * What the plugin can access, shown before its first run.
   */
  capabilities: {
    /**
     * It opens network connections.
     */
    network: boolean;
    /**
     * It reads or writes files.
     */
    files: boolean;
    /**
     * It starts processes.
     */
    processes: boolean;
  };
  /**
   * Other names of the plugin, for example those of plugins that it replaces.
   */
  aliases?: Alias[];
  tool?: ToolManifest;
  reward?: RewardManifest;
  loop?: LoopManifest;
}
/**
 * Another name of a plugin, which sets some of its options.
 */
export interface Alias {
  /**
   * The other name: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * Options that the name sets. A pipeline that uses the name can't set them.
   */
  preset?: JsonObject;
  /**
   * How the configuration's schema differs under this name, as a JSON merge patch (RFC 7396): null removes an option.
   */
  config?: JsonObject;
}
/**
 * A tool's definition for the policy, and how its calls are executed.
 */
export interface ToolManifest {
  /**
   * The name that the policy calls, or the common name of several functions: letters, digits, _ and -, at most 64.
   */
  name: string;
  /**
   * What the tool does, for the policy.
   */
  description?: string;
  parameters?: ObjectSchema;
  functions?: ToolFunctions;
  /**
   * The plugin defines its functions itself, in functions(config), when Everturn makes the plan.
   */
  dynamic?: true;
  /**
   * The plugin checks each task, in refusal(task, config), before a run begins.
   */
  checksTasks?: true;
  /**
   * Its calls are questions. Each waits until a person answers it (everturn trajectory answer), and its execution receives the answer.
   */
  person?: true;
  /**
   * For agent loops: hidden from the policy unless a loop's tools list it.
   */
  forLoops?: true;
  /**
   * The tool keeps state for each trajectory, which its release frees when the trajectory ends.
   */
  stateful: boolean;
  /**
   * What happens to a trajectory's state when its worker dies. snapshot restores the snapshot after the last call; replay repeats the recorded calls in order in a new instance; fail, the default, leaves the trajectory out.
   */
  recovery?: "snapshot" | "replay" | "fail";
  /**
   * restore can take over what the instance of a dead worker holds, such as a session of a server. Everturn then frees that only if the restored instance holds something else.
   */
  reattaches?: true;
  rate?: Rate;
  /**
   * How many calls of the tool a worker makes at a time. The others wait in line. Default: no limit of its own.
   */
  concurrency?: number;
  /**
   * The name of the service that the calls depend on. Tools with the same host share its limit, and wait together while it is down. Default: the tool's own name.
   */
  host?: string;
  retry: Retry;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  timeout: string;
  cpuTime?: Duration;
}
/**
 * The functions of a tool, by name: letters, digits, _ and -, at most 64.
 */
export interface ToolFunctions {
  [k: string]: ToolFunction;
}
/**
 * A function of a tool.
 */
export interface ToolFunction {
  /**
   * What the function does, for the policy.
   */
  description: string;
  parameters: ObjectSchema;
}
/**
 * How a call is retried when the plugin's infrastructure fails.
 */
export interface Retry {
  /**
   * Maximum number of attempts; 1 means no retry.
   */
  maximumAttempts: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  initialInterval: string;
  /**
   * Each wait is the previous one times this.
   */
  backoffCoefficient: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  maximumInterval: string;
}
/**
 * How Everturn requests scores from the reward.
 */
export interface RewardManifest {
  /**
   * It only computes, faster than a round trip through the Temporal server. Everturn calls it where the workflow runs.
   */
  pure: boolean;
  /**
   * It compares the trajectories of a group when all of them have ended, and exports scoreGroup instead of score.
   */
  group: boolean;
  /**
   * It receives the final states of the trajectory's tools: the last snapshot of each tool whose recovery is snapshot.
   */
  snapshots: boolean;
  /**
   * It receives the results that the trajectory's agent recorded.
   */
  recorded: boolean;
  rate?: Rate;
  /**
   * How many trajectories a worker scores at a time. The others wait in line. Default: no limit of its own.
   */
  concurrency?: number;
  /**
   * The name of the service that the scores depend on, for example a judge's server. Tools and rewards with the same host share its limit, and wait together while it is down. Default: the plugin's own name.
   */
  host?: string;
  retry: Retry1;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  timeout: string;
}
/**
 * How a call is retried when the plugin's infrastructure fails.
 */
export interface Retry1 {
  /**
   * Maximum number of attempts; 1 means no retry.
   */
  maximumAttempts: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  initialInterval: string;
  /**
   * Each wait is the previous one times this.
   */
  backoffCoefficient: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  maximumInterval: string;
}
/**
 * The agent loop of an environment, for pipelines that name no other.
 */
export interface LoopManifest {
  /**
   * The name of a plugin of kind loop, for example loop-tool-agent.
   */
  plugin: string;
  /**
   * The loop's configuration. A pipeline can change it key by key. A text that begins with ./ is a path relative to the manifest.
   */
  config?: JsonObject;
}
