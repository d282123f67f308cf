import type { JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import type { FunctionName, StateNumber, ThreadKind } from "./protocol.ts";
import type { ThrownData } from "./thrown-data.ts";

/** Why a call in a plugin host has failed. The worker chooses the message. */
export type HostedFailure =
  | { type: "timed out" }
  | { type: "failed"; reason: string; cause?: ThrownData }
  | { type: "thrown"; thrown: ThrownData };

/** Messages to a plugin host. All but `ping` concern one of its threads. */
export type ToHost =
  | {
      type: "start";
      thread: number;
      kind: ThreadKind;
      plugin: ResolvedPlugin;
      limit: number;
      /** The mark that processes started by the thread carry. */
      mark: string;
    }
  | { type: "ask"; thread: number; call: number; name: FunctionName; request: unknown; tellsOver: boolean }
  | { type: "abort"; thread: number; call: number; reason: ThrownData }
  | { type: "held"; thread: number; call: number; failure?: string }
  | { type: "forget"; thread: number; state: StateNumber }
  | { type: "end"; thread: number }
  | { type: "ping"; ping: number };

/** Messages from a plugin host. */
export type FromHost =
  | { type: "started"; thread: number; functions: string[] }
  | { type: "unusable"; thread: number; thrown: ThrownData }
  | { type: "answered"; thread: number; call: number; answer: unknown }
  | { type: "failed"; thread: number; call: number; failure: HostedFailure }
  /** The plugin has finished the call, even if no caller waits for it any more. */
  | { type: "over"; thread: number; call: number }
  /** The thread waits for `held`. */
  | { type: "hold"; thread: number; call: number; handle: JsonValue }
  | { type: "log"; thread: number; text: string }
  /** The thread has ended by itself. */
  | { type: "ended"; thread: number }
  /** The thread has ended on request. */
  | { type: "closed"; thread: number }
  | { type: "pong"; ping: number };
