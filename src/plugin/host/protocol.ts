import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { OfferedFunction, ResolvedPlugin } from "../../contracts/plan.ts";
import type { GroupScore, GroupScoreRequest, Score, ScoreRequest, Unscored } from "../../contracts/reward.ts";
import type { ToolCreation, ToolExecution } from "../../contracts/tool.ts";
import type { CheckedResponse } from "./checked-response.ts";
import type { ThrownData } from "./thrown-data.ts";

/** The kinds of plugins that run in a thread. */
export type ThreadKind = "tool" | "reward";

/** The input of a plugin's thread. */
export interface ThreadStart {
  kind: ThreadKind;
  plugin: ResolvedPlugin;
  /**
   * When calls began, in nanoseconds of `process.hrtime`: the newest call, then each in its slot
   * (`begun-calls.ts`).
   */
  begun: BigInt64Array;
}

/** The number of an instance's state. The state itself stays in the thread. */
export type StateNumber = number;

/**
 * The functions of plugins, with their requests and answers between threads. Signals and `hold` are separate
 * messages.
 */
export interface PluginFunctions {
  create: { request: Omit<ToolCreation, "hold" | "signal">; answer: StateNumber };
  restore: {
    request: { snapshot: Uint8Array; creation: Omit<ToolCreation, "hold" | "signal"> };
    answer: StateNumber;
  };
  execute: {
    request: {
      parameters: JsonObject;
      execution: Omit<ToolExecution, "signal">;
      state: StateNumber | undefined;
    };
    answer: CheckedResponse;
  };
  snapshot: { request: { state: StateNumber }; answer: Uint8Array | undefined };
  release: { request: { state: StateNumber }; answer: undefined };
  reap: { request: { handle: JsonValue; config: JsonObject }; answer: undefined };
  probe: { request: { config: JsonObject }; answer: undefined };
  functions: { request: { config: JsonObject }; answer: OfferedFunction[] };
  /** One for each task. */
  refusal: { request: { tasks: readonly Task[]; config: JsonObject }; answer: (string | undefined)[] };
  score: { request: Omit<ScoreRequest, "signal">; answer: Score | Unscored };
  /** One for each member. */
  scoreGroup: { request: Omit<GroupScoreRequest, "signal">; answer: (GroupScore | Unscored)[] };
}

export type FunctionName = keyof PluginFunctions;

/** Messages to a plugin's thread. */
export type ToThread =
  | { type: "call"; call: number; name: FunctionName; request: never }
  | { type: "abort"; call: number; reason: ThrownData }
  /** No caller waits any more for the state that this call made. */
  | { type: "drop"; state: StateNumber }
  | { type: "ping"; ping: number };

/**
 * Messages from a plugin's thread. The first one reports whether the plugin could be loaded, and its
 * functions.
 */
export type FromThread<Answer = never> =
  | { type: "loaded"; functions: string[] }
  | { type: "unusable"; thrown: ThrownData }
  | { type: "answered"; call: number; answer: Answer }
  | { type: "failed"; call: number; thrown: ThrownData }
  /** The thread waits while `written` is `unwritten`. */
  | { type: "hold"; call: number; handle: JsonValue; written: Int32Array }
  | { type: "pong"; ping: number }
  /** The last message: the reason of its end, and the call that caused it, if known. */
  | { type: "ending"; call: number | undefined; reason: string; thrown?: ThrownData };

/** The values of the flag in a `hold`. */
export const holdState = { unwritten: 0, written: 1, failed: 2 } as const;
