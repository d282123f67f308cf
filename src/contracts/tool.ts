import type { Task } from "./generated/task.ts";
import type { JsonObject } from "./json.ts";

/** What a tool answers. `error` marks a failure of the model (bad expression, wrong code): it is an observation. */
export interface ToolResponse {
  text: string;
  error?: boolean;
  /** Added to the trajectory's reward as verl's tools do. Default 0. */
  reward?: number;
  metrics?: Record<string, number>;
}

/** What a tool is told when an instance is made for a trajectory. */
export interface ToolCreation {
  instance: string;
  task: Task;
  config: JsonObject;
}

/** What a tool is told at each call. `key` is the call's idempotency key: the same in each attempt. */
export interface ToolExecution {
  instance: string;
  key: string;
  attempt: number;
  config: JsonObject;
  signal: AbortSignal;
}

/**
 * The default export of a tool plugin, with verl's lifecycle: an instance is created at a trajectory's first call,
 * executed for each call, and released once at the trajectory's end.
 * A throw means that the tool's infrastructure failed: Temporal retries it under the manifest's policy.
 * A failure that the model caused is a response with `error: true`.
 */
export interface ToolPlugin<State = undefined> {
  create?(creation: ToolCreation): Promise<State> | State;
  execute(
    parameters: JsonObject,
    execution: ToolExecution,
    state: State,
  ): Promise<ToolResponse> | ToolResponse;
  release?(state: State): Promise<void> | void;
}
