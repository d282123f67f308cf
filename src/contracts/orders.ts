import type { Turn } from "./generated/trajectory.ts";
import type { JsonObject } from "./json.ts";
import type { Message, SpokenMessage } from "./message.ts";
import type { SegmentRef, TokenCounts } from "./trajectory.ts";

/** The updates of a trajectory workflow. `pause`, `resume` and `cancel` are signals too, which need no answer. */
export interface Orders {
  /** Stops before the next turn. */
  pause(order?: { reason?: string }): LiveStatus;
  resume(): LiveStatus;
  /** Ends it as left out: it trains no step. */
  cancel(order?: { reason?: string }): LiveStatus;
  /** Makes a call that waits, with other arguments if given. `call` may be left out where only one waits. */
  approve(order?: { call?: string; arguments?: JsonObject }): LiveStatus;
  /** Does not make a call that waits: the reason is what the model observes. */
  deny(order: { call?: string; reason: string }): LiveStatus;
  /** Answers a call that is a question; `call` may be left out where only one waits. */
  answer(order: { call?: string; text: string }): LiveStatus;
  /** Adds a message before the next action. Its tokens carry loss mask 0. Default role: user. */
  say(order: { text: string; role?: SpokenMessage["role"] }): Promise<LiveStatus>;
}

/** An order's name: of the update, and of the command line's verb. */
export type OrderName = keyof Orders;

/** A tool call that waits for a person: to be approved, or to be answered. */
export interface WaitingCall {
  /** `turn/call`, such as 2/0: the end of the call's idempotency key. */
  call: string;
  tool: string;
  arguments: JsonObject;
  /** Since when it waits, ISO 8601. */
  since: string;
  /** A person's answer is what the call is for. */
  isQuestion?: true;
  /** For whom it waits, if the pipeline says. */
  whom?: string;
}

/** Where a live trajectory is. `pausing`: it will pause once the turn under way has ended. */
export interface LiveStatus {
  state:
    | "running"
    | "pausing"
    | "paused"
    | "waiting for approval"
    | "waiting for an answer"
    | "cancelling"
    | "ended";
  /** Turns whose action has been generated. */
  turn: number;
  tokens: TokenCounts;
  waiting: WaitingCall[];
  /** It waits for a person, and will pause once the turn under way has ended. */
  willPause?: true;
  /** Why it is paused or cancelled, if that was said. */
  reason?: string;
  /** Messages that go before the next action. */
  messages: SpokenMessage[];
}

/** What the query `transcript` answers: the status, the first turns and the newest ones; the rest is on disk. */
export interface Transcript extends LiveStatus {
  prompt: Message[];
  /** `number` counts from 1. */
  turns: (Turn & { number: number })[];
  head: SegmentRef | null;
}
