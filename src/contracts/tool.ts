import type { ContentPart } from "./content.ts";
import type { Task } from "./generated/task.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/**
 * What a tool answers. A plain value is its text; an object or a list that is no response is told as JSON. `error` marks a
 * failure of the model (bad expression, wrong code): it is an observation.
 */
export interface ToolResponse {
  /** What the model reads. */
  text?: string;
  /** More of it, after `text`: texts, JSON, images, videos. Of the latter two the model's text has a note. */
  content?: ContentPart[];
  error?: boolean;
  /**
   * Why the call is none that may be made, though its arguments fit the schema: a move that the rules forbid, a page that is not
   * there. The model is told, and the call counts as invalid, as one with wrong arguments does.
   */
  invalid?: string;
  /** There is nothing more to do: the trajectory ends after this turn, with the outcome "done". Default false. */
  done?: boolean;
  /** Added to the trajectory's reward as verl's tools do. Default 0. */
  reward?: number;
  metrics?: Record<string, number>;
}

/** What a tool tells of one of its functions. `parameters`: a JSON Schema of type object. */
export interface ToldFunction {
  description: string;
  parameters: JsonObject;
}

/** What a tool is told when an instance is made for a trajectory. */
export interface ToolCreation {
  instance: string;
  task: Task;
  config: JsonObject;
  /**
   * For the processes that the instance starts: `env: { ...process.env, ...environment }`. By it those are found and
   * killed whose worker died before it could `hold` them (on Linux).
   */
  environment: Record<string, string>;
  /** Aborted at the tool's time-out, and when nobody waits for the instance any longer. */
  signal: AbortSignal;
  /**
   * Notes what `reap` needs to free the instance if this worker dies: a process, a sandbox's id. To be called as soon
   * as there is something to free; the last one counts.
   */
  hold(handle: JsonValue): void;
}

/** What a tool is told at each call. `key` is the call's idempotency key: the same in each attempt. */
export interface ToolExecution {
  instance: string;
  /** Which of the tool's functions is called, by the name that the tool has for it. */
  function: string;
  key: string;
  attempt: number;
  config: JsonObject;
  /** Aborted at the tool's time-out, and when nobody waits for the answer any longer. */
  signal: AbortSignal;
  /** What a person answered to the call, of a tool whose manifest says `person`. */
  answer?: string;
  /** The call was answered before, and is made again to recover the instance's state; its answer is dropped. */
  isReplay: boolean;
}

/**
 * The default export of a tool plugin, with verl's lifecycle: an instance is created at a trajectory's first call,
 * executed for each call, one after the other, and released once at the trajectory's end.
 * A throw means that the tool's infrastructure failed: it is retried under the manifest's policy. A mistake in the
 * plugin's own text (a TypeError there, an answer of a wrong form) ends the run.
 * A failure that the model caused is a response with `error: true`.
 */
export interface ToolPlugin<State = undefined, Answer = ToolResponse | JsonValue> {
  create?(creation: ToolCreation): Promise<State> | State;
  execute(parameters: JsonObject, execution: ToolExecution, state: State): Promise<Answer> | Answer;
  /**
   * The functions that the tool offers, by name, where its manifest says `dynamic`: asked when the plan is made, which keeps
   * the answer. A throw says why there is no plan.
   */
  functions?(config: JsonObject): Promise<Record<string, ToldFunction>> | Record<string, ToldFunction>;
  /**
   * Why no trajectory of the task could use the tool, where its manifest says `checksTasks`: asked of all tasks before a run, which does not
   * begin then. Undefined if nothing is wrong.
   */
  refusal?(task: Task, config: JsonObject): Promise<string | undefined> | string | undefined;
  release?(state: State): Promise<void> | void;
  /** For `recovery: snapshot`: the state after a call, as bytes; undefined if it can't be told, and would be lost. */
  snapshot?(state: State): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** For `recovery: snapshot`: a new instance with the state of a snapshot. */
  restore?(snapshot: Uint8Array, creation: ToolCreation): Promise<State> | State;
  /** Frees what the worker of an instance left when it died, by its handle. May be called more than once. */
  reap?(handle: JsonValue, config: JsonObject): Promise<void> | void;
  /** Whether the tool's host works again: throws if it does not. Without it, one of the calls that wait is tried. */
  probe?(config: JsonObject): Promise<void> | void;
}
