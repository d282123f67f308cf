import type { JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import type { FunctionName, StateNumber, ThreadKind } from "./protocol.ts";
import type { ThrownData } from "./thrown-data.ts";

/** Why a call in a plugin host has failed: what is said of that is the worker's. */
export type HostedFailure =
  | { type: "timed out" }
  | { type: "failed"; reason: string; cause?: ThrownData }
  | { type: "thrown"; thrown: ThrownData };

/** To a plugin host, each of one of its threads but for `ping`. */
export type ToHost =
  | {
      type: "start";
      thread: number;
      kind: ThreadKind;
      plugin: ResolvedPlugin;
      limit: number;
      /** What processes carry that the thread starts. */
      mark: string;
    }
  | { type: "ask"; thread: number; call: number; name: FunctionName; request: unknown; tellsOver: boolean }
  | { type: "abort"; thread: number; call: number; reason: ThrownData }
  | { type: "held"; thread: number; call: number; failure?: string }
  | { type: "forget"; thread: number; state: StateNumber }
  | { type: "end"; thread: number }
  | { type: "ping"; ping: number };

/** From a plugin host. */
export type FromHost =
  | { type: "started"; thread: number; functions: string[] }
  | { type: "unusable"; thread: number; thrown: ThrownData }
  | { type: "answered"; thread: number; call: number; answer: unknown }
  | { type: "failed"; thread: number; call: number; failure: HostedFailure }
  /** The plugin is done with a call that nobody may wait for any more. */
  | { type: "over"; thread: number; call: number }
  /** The thread waits until it is `held`. */
  | { type: "hold"; thread: number; call: number; handle: JsonValue }
  | { type: "log"; thread: number; text: string }
  /** It has ended by itself. */
  | { type: "ended"; thread: number }
  /** It has ended, as it was told to. */
  | { type: "closed"; thread: number }
  | { type: "pong"; ping: number };
