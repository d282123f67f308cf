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
 * everturn.plugin.json: what a plugin package is and what it needs.
 */
export interface PluginManifest {
  /**
   * Where this schema lies, for editors.
   */
  $schema?: string;
  /**
   * The name pipelines use, by convention <kind>-<name>: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * Which place of a pipeline the plugin fills.
   */
  kind: "tool" | "reward" | "loop" | "policy" | "trainer" | "loss" | "dataset" | "tracker";
  /**
   * The plugin's version, for example 0.1.0.
   */
  version: string;
  /**
   * The Everturn versions the plugin works with.
   */
  engines: {
    /**
     * A version range: ^0.1.0, ~0.1.2, >=0.1.0 <0.3.0, ^0.2.0-rc.1, 0.1.0 or *, and alternatives joined by ||.
     */
    everturn: string;
  };
  /**
   * The module whose default export is the plugin, relative to the manifest, for example ./index.ts. Every kind but loop needs it.
   */
  entry?: string;
  /**
   * A loop's module of workflow code, whose default export is the agent loop, for example ./workflow.ts.
   */
  workflow?: string;
  config?: ObjectSchema;
  /**
   * What the plugin does beyond computing, shown before its first run.
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
  tool?: ToolManifest;
  reward?: RewardManifest;
}
/**
 * What a plugin of kind tool tells the policy, and how its calls are tried.
 */
export interface ToolManifest {
  /**
   * The name the policy calls, or that several functions have in common: letters, digits, _ and -, at most 64.
   */
  name: string;
  /**
   * What the tool does, for the policy.
   */
  description?: string;
  parameters?: ObjectSchema;
  functions?: ToolFunctions;
  /**
   * The plugin itself tells the functions that it offers, by functions(config), when the plan is made.
   */
  dynamic?: true;
  /**
   * The plugin says of each task whether it can be used there, by refusal(task, config), before a run begins.
   */
  checksTasks?: true;
  /**
   * Its calls are questions: each waits until a person answers it (everturn trajectory answer), and its execution is told the answer.
   */
  person?: true;
  /**
   * Agent loops call it, and the policy is told of it only where a loop's tools name it.
   */
  forLoops?: true;
  /**
   * The tool holds state for a trajectory, which its release frees at the trajectory's end.
   */
  stateful: boolean;
  /**
   * What becomes of a trajectory's state when its worker dies: snapshot restores the one taken after the last call, replay makes the recorded calls again, in order, in a new instance; fail, which is also in force if left out, leaves the trajectory out.
   */
  recovery?: "snapshot" | "replay" | "fail";
  rate?: Rate;
  /**
   * How many calls of the tool a worker makes at once; the others wait in line. No limit of its own if left out.
   */
  concurrency?: number;
  /**
   * Names what the calls depend on. Tools that name the same host share its limit, and wait together while it is down. The tool's own name if left out.
   */
  host?: string;
  retry: Retry;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  timeout: string;
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
   * How often a failing call is tried in all; 1 means no retry.
   */
  maximumAttempts: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  initialInterval: string;
  /**
   * Each wait is the one before times this.
   */
  backoffCoefficient: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  maximumInterval: string;
}
/**
 * How a reward manager is asked for scores.
 */
export interface RewardManifest {
  /**
   * It only computes, in less time than a way through the Temporal server takes: it is asked where the workflow runs.
   */
  pure: boolean;
  /**
   * It compares the trajectories of a group once all of them have ended, and exports scoreGroup in place of score.
   */
  group: boolean;
  /**
   * It is given the states that the trajectory's tools ended with: the last snapshot of each tool whose recovery is snapshot.
   */
  snapshots: boolean;
  rate?: Rate;
  /**
   * How many trajectories a worker has scored at once; the others wait in line. No limit of its own if left out.
   */
  concurrency?: number;
  /**
   * Names what the scores depend on, for example a judge's server. Tools and rewards that name the same host share its limit, and wait together while it is down. The plugin's own name if left out.
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
   * How often a failing call is tried in all; 1 means no retry.
   */
  maximumAttempts: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  initialInterval: string;
  /**
   * Each wait is the one before times this.
   */
  backoffCoefficient: number;
  /**
   * A number and ms, s, m or h, for example 500ms, 10s or 2m.
   */
  maximumInterval: string;
}
