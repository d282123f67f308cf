import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { OfferedFunction, ResolvedPlugin } from "../../contracts/plan.ts";
import type { GroupScore, GroupScoreRequest, Score, ScoreRequest, Unscored } from "../../contracts/reward.ts";
import type { ToolCreation, ToolExecution } from "../../contracts/tool.ts";
import type { CheckedResponse } from "./checked-response.ts";
import type { ThrownData } from "./thrown-data.ts";

/** The plugins that have a thread. */
export type ThreadKind = "tool" | "reward";

/** What a plugin's thread is started with. */
export interface ThreadStart {
  kind: ThreadKind;
  plugin: ResolvedPlugin;
  /** When calls began, in nanoseconds of `process.hrtime`: the newest one, then each in its slot (`begun-calls.ts`). */
  begun: BigInt64Array;
}

/** An instance's state by its number: the state itself stays in the thread. */
export type StateNumber = number;

/** The functions of plugins, with what crosses to their thread and back; their signals and `hold` go as messages. */
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

/** To a plugin's thread. */
export type ToThread =
  | { type: "call"; call: number; name: FunctionName; request: never }
  | { type: "abort"; call: number; reason: ThrownData }
  /** Nobody waits for the state any more that this call made. */
  | { type: "drop"; state: StateNumber }
  | { type: "ping"; ping: number };

/** From a plugin's thread; first of all whether the plugin could be loaded, and what it can do. */
export type FromThread<Answer = never> =
  | { type: "loaded"; functions: string[] }
  | { type: "unusable"; thrown: ThrownData }
  | { type: "answered"; call: number; answer: Answer }
  | { type: "failed"; call: number; thrown: ThrownData }
  /** The thread waits until `written` is no longer `unwritten`. */
  | { type: "hold"; call: number; handle: JsonValue; written: Int32Array }
  | { type: "pong"; ping: number }
  /** The last that is heard of it: what ends it, and in which call, if that is known. */
  | { type: "ending"; call: number | undefined; reason: string; thrown?: ThrownData };

/** What the flag of a `hold` says. */
export const holdState = { unwritten: 0, written: 1, failed: 2 } as const;
