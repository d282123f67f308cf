import type { Turn } from "./generated/trajectory.ts";
import type { JsonObject } from "./json.ts";
import type { Message, SpokenMessage } from "./message.ts";
import type { SegmentRef, TokenCounts } from "./trajectory.ts";

/** The updates of a trajectory workflow. `pause`, `resume` and `cancel` are also signals, which need no answer. */
export interface Orders {
  /** Stops before the next turn. */
  pause(order?: { reason?: string }): LiveStatus;
  resume(): LiveStatus;
  /** Ends the trajectory as left out, so that it trains no step. */
  cancel(order?: { reason?: string }): LiveStatus;
  /** Makes a waiting call, with other arguments if given. `call` may be omitted if only one call waits. */
  approve(order?: { call?: string; arguments?: JsonObject }): LiveStatus;
  /** Rejects a waiting call. The model observes the reason. */
  deny(order: { call?: string; reason: string }): LiveStatus;
  /** Answers a call that is a question. `call` may be omitted if only one call waits. */
  answer(order: { call?: string; text: string }): LiveStatus;
  /** Adds a message before the next action. Its tokens have loss mask 0. Default role: user. */
  say(order: { text: string; role?: SpokenMessage["role"] }): Promise<LiveStatus>;
}

/** The name of an order: of the update, and of the command. */
export type OrderName = keyof Orders;

/** A tool call that waits for a person's approval or answer. */
export interface WaitingCall {
  /** `turn/call`, such as 2/0: the end of the call's idempotency key. */
  call: string;
  tool: string;
  arguments: JsonObject;
  /** When the wait began, ISO 8601. */
  since: string;
  /** The call asks a person, whose answer is its result. */
  isQuestion?: true;
  /** The person it waits for, if the pipeline names one. */
  whom?: string;
}

/** The state of a live trajectory. `pausing`: it will pause when the current turn ends. */
export interface LiveStatus {
  state:
    | "running"
    | "pausing"
    | "paused"
    | "waiting for approval"
    | "waiting for an answer"
    | "cancelling"
    | "ended";
  /** The number of turns whose action has been generated. */
  turn: number;
  tokens: TokenCounts;
  waiting: WaitingCall[];
  /** It waits for a person, and will pause when the current turn ends. */
  willPause?: true;
  /** Why it is paused or cancelled, if the order gave a reason. */
  reason?: string;
  /** Messages to add before the next action. */
  messages: SpokenMessage[];
}

/**
 * The answer to the query `transcript`: the status, the first turns and the newest ones. The other turns are on disk.
 */
export interface Transcript extends LiveStatus {
  prompt: Message[];
  /** `number` counts from 1. */
  turns: (Turn & { number: number })[];
  head: SegmentRef | null;
}
