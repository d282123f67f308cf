import type { ContentPart } from "./content.ts";
import type { Task } from "./generated/task.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/**
 * A tool's answer. A plain value becomes its text; any other object or list becomes JSON. `error` marks a mistake of the
 * model's (bad expression, wrong code), which is an observation.
 */
export interface ToolResponse {
  /** The text that the model reads. */
  text?: string;
  /**
   * More content after `text`: texts, JSON, images, videos. The model's text contains a note for each image and
   * video.
   */
  content?: ContentPart[];
  error?: boolean;
  /**
   * Why the call is not allowed although its arguments match the schema, for example a move that the rules forbid, or a
   * missing page. The model reads the reason, and the call counts as invalid, like one with wrong arguments.
   */
  invalid?: string;
  /** The task is finished: the trajectory ends after this turn with the outcome "done". Default: false. */
  done?: boolean;
  /** Added to the trajectory's reward, as with verl's tools. Default: 0. */
  reward?: number;
  metrics?: Record<string, number>;
}

/** A function that a tool offers. `parameters`: a JSON Schema of type object. */
export interface ToldFunction {
  description: string;
  parameters: JsonObject;
  /** For agent loops: hidden from the policy unless a loop's tools list it. Default: the manifest's `forLoops`. */
  forLoops?: true;
}

/** What a tool receives when Everturn creates an instance for a trajectory. */
export interface ToolCreation {
  instance: string;
  task: Task;
  config: JsonObject;
  /**
   * Environment variables for the processes that the instance starts: `env: { ...process.env, ...environment }`. On Linux,
   * Everturn uses them to find and kill processes whose worker died before it could `hold` them.
   */
  environment: Record<string, string>;
  /** Aborted at the tool's time-out, and when the instance is no longer needed. */
  signal: AbortSignal;
  /**
   * Records what `reap` needs to free the instance if this worker dies, such as a process or a sandbox's id. Call it as
   * soon as there is something to free. The last handle counts.
   */
  hold(handle: JsonValue): void;
}

/** What a tool receives with each call. `key` is the call's idempotency key, the same in each attempt. */
export interface ToolExecution {
  instance: string;
  /** The called function, by the tool's own name for it. */
  function: string;
  key: string;
  attempt: number;
  config: JsonObject;
  /** Aborted at the tool's time-out, and when the answer is no longer needed. */
  signal: AbortSignal;
  /** A person's answer to the call, for a tool whose manifest sets `person`. */
  answer?: string;
  /** The call was answered before and is repeated to recover the instance's state. Its answer is ignored. */
  isReplay: boolean;
}

/**
 * The default export of a tool plugin, with verl's lifecycle: Everturn creates an instance at a trajectory's first call,
 * executes its calls one after the other, and releases it once at the trajectory's end.
 * Throw if the tool's infrastructure fails: the call is retried under the manifest's policy. A bug in the plugin (a
 * TypeError in its code, an answer of the wrong type) ends the run. Return `error: true` for the model's mistakes.
 */
export interface ToolPlugin<State = undefined, Answer = ToolResponse | JsonValue> {
  create?(creation: ToolCreation): Promise<State> | State;
  execute(parameters: JsonObject, execution: ToolExecution, state: State): Promise<Answer> | Answer;
  /**
   * For a manifest with `dynamic`: returns the tool's functions, by name. Called when Everturn makes the plan, which
   * stores the result. An error rejects the plan with its message.
   */
  functions?(config: JsonObject): Promise<Record<string, ToldFunction>> | Record<string, ToldFunction>;
  /**
   * For a manifest with `checksTasks`: returns why no trajectory of the task could use the tool, or undefined. Called for
   * all tasks before a run, which does not start if there is a reason.
   */
  refusal?(task: Task, config: JsonObject): Promise<string | undefined> | string | undefined;
  release?(state: State): Promise<void> | void;
  /**
   * For `recovery: snapshot`: returns the state after a call as bytes, or undefined if it can't be saved and
   * would be lost.
   */
  snapshot?(state: State): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** For `recovery: snapshot`: creates an instance with the state of a snapshot. */
  restore?(snapshot: Uint8Array, creation: ToolCreation): Promise<State> | State;
  /** Frees what a dead worker's instance left, by its handle. May be called more than once. */
  reap?(handle: JsonValue, config: JsonObject): Promise<void> | void;
  /** Checks whether the tool's host works again, and throws if it does not. Default: Everturn tries a waiting call. */
  probe?(config: JsonObject): Promise<void> | void;
}
