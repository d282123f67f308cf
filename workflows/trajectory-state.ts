import { defined } from "../src/base/records/defined.ts";
import type { Approval } from "../src/contracts/approval.ts";
import type { GenerateTurnResult } from "../src/contracts/generate-turn.ts";
import type { Turn } from "../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../src/contracts/json.ts";
import type { Message, SpokenMessage } from "../src/contracts/message.ts";
import type { WaitingCall } from "../src/contracts/orders.ts";
import type { CarriedOrders, TrajectoryProgress, Unrecorded } from "../src/contracts/trajectory.ts";
import { policyCalls } from "../src/run/projections/policy-calls.ts";
import { withTurn } from "../src/run/projections/shown-turns.ts";
import { afterAction, afterMessages, afterTurn } from "./conversations.ts";
import { invalidInARow } from "./stop-rules.ts";

/** A call that needs a person: it waits for a decision, or it has one. */
export type Asked = { state: "waiting"; call: WaitingCall } | { state: "decided"; decision: Approval };

/** The orders that a trajectory has received, and the calls that wait for one. */
export interface OrdersState {
  readonly paused: { reason?: string } | undefined;
  /** The trajectory is paused and waits between two turns. */
  readonly isAtGate: boolean;
  /** The reason of its cancellation. */
  readonly cancelled: string | undefined;
  /** Its turns have ended. */
  readonly isClosed: boolean;
  /** Messages for the next action. */
  readonly messages: SpokenMessage[];
  /** Calls that need a person, by `turn/call`. */
  readonly calls: ReadonlyMap<string, Asked>;
}

/** All state that changes while a trajectory runs. */
export interface TrajectoryState {
  readonly progress: TrajectoryProgress;
  readonly orders: OrdersState;
}

/** People's orders, and the points where the trajectory obeys them. */
export type OrderEvent =
  | { type: "paused"; reason: string | undefined }
  | { type: "resumed" }
  | { type: "cancelled"; reason: string }
  | { type: "told"; message: SpokenMessage }
  | { type: "gate"; isAtGate: boolean }
  | { type: "asked"; call: WaitingCall }
  | { type: "decided"; call: string; decision: Approval }
  | { type: "answered"; call: string }
  | { type: "closed" };

/** What happens to a trajectory. */
export type TrajectoryEvent =
  | OrderEvent
  /**
   * People's messages come before the next action: all messages sent to the trajectory, and `own`, those of a
   * fork.
   */
  | { type: "said"; own: SpokenMessage[] }
  | { type: "generated"; turn: number; result: GenerateTurnResult; agent?: string | undefined }
  | { type: "refused"; call: Unrecorded }
  | { type: "called"; tool: string }
  | { type: "holds"; tool: string }
  /** The worker with this queue holds the tool's state. */
  | { type: "held"; tool: string; queue: string }
  | { type: "observed"; messages: Message[]; agent?: string | undefined }
  | { type: "turn-ended"; turn: number; ended: Ended };

/** An ended turn, with or without an action. */
interface Ended {
  record: Turn;
  /** The number of calls that it began. */
  calls: number;
  workedMs: number;
  loopState: JsonObject;
  /** The limit from `limits.invalidCalls`. */
  invalidLimit: number | undefined;
}

/** The state of a trajectory that begins at `now`, in ms. */
export function begun(now: number): TrajectoryProgress {
  return {
    startedAt: now,
    workedMs: 0,
    turns: 0,
    head: null,
    generationSeconds: 0,
    tokens: { prompt: 0, action: 0, observation: 0 },
    policyVersions: null,
    pending: [],
    toolCalls: 0,
    validCalls: 0,
    invalidInARow: 0,
    calls: 0,
    refused: [],
    toolsUsed: [],
    toolsHolding: [],
    loopState: {},
    orders: { messages: [] },
    shown: { first: [], newest: [] },
  };
}

/** The state at a trajectory's start, or after it continued as new. */
export function stateOf(progress: TrajectoryProgress): TrajectoryState {
  return { progress, orders: ordersState(progress.orders) };
}

/** The orders at a trajectory's start, or after it continued as new. */
export function ordersState({ paused, messages }: CarriedOrders): OrdersState {
  const running = { isAtGate: false, cancelled: undefined, isClosed: false };
  return { paused, messages, ...running, calls: new Map() };
}

/** The state that a trajectory carries over when it continues as new. */
export function carriedState({
  progress,
  orders: { paused, messages },
}: TrajectoryState): TrajectoryProgress {
  return { ...progress, orders: defined({ paused, messages }) };
}

/** Returns the state after an event. A trajectory's state changes only here. */
export function nextState(state: TrajectoryState, event: TrajectoryEvent): TrajectoryState {
  switch (event.type) {
    case "said":
      return said(state, event.own);
    case "generated":
    case "refused":
    case "called":
    case "holds":
    case "held":
    case "observed":
    case "turn-ended":
      return { ...state, progress: { ...state.progress, ...progressAfter(state.progress, event) } };
    default:
      return { ...state, orders: { ...state.orders, ...ordersAfter(state.orders, event) } };
  }
}

function said({ progress, orders }: TrajectoryState, own: SpokenMessage[]): TrajectoryState {
  const pending = [...progress.pending, ...own, ...orders.messages];
  return { progress: { ...progress, pending }, orders: { ...orders, messages: [] } };
}

type ProgressEvent = Exclude<TrajectoryEvent, OrderEvent | { type: "said" }>;

function progressAfter(progress: TrajectoryProgress, event: ProgressEvent): Partial<TrajectoryProgress> {
  switch (event.type) {
    case "generated":
      return generated(progress, event);
    case "refused":
      return { refused: [...progress.refused, event.call] };
    case "called":
      return { toolsUsed: withName(progress.toolsUsed, event.tool) };
    case "holds":
      return { toolsHolding: withName(progress.toolsHolding, event.tool) };
    case "held":
      return { holders: { ...progress.holders, [event.tool]: event.queue } };
    case "observed":
      return afterMessages(progress, event.agent, event.messages);
    case "turn-ended":
      return turnEnded(progress, event.turn, event.ended);
  }
}

function generated(
  progress: TrajectoryProgress,
  { turn, result, agent }: Extract<ProgressEvent, { type: "generated" }>,
): Partial<TrajectoryProgress> {
  const { tokens, policyVersions, generationSeconds } = progress;
  const { head, seconds, policyVersion, tokens: added } = result;
  return {
    turns: turn,
    refused: [],
    ...afterAction(progress, agent, head),
    generationSeconds: generationSeconds + seconds,
    policyVersions: {
      oldest: Math.min(policyVersions?.oldest ?? policyVersion, policyVersion),
      newest: Math.max(policyVersions?.newest ?? policyVersion, policyVersion),
    },
    tokens: {
      prompt: tokens.prompt + added.prompt,
      action: tokens.action + added.action,
      observation: tokens.observation + added.observation,
    },
  };
}

/** A turn without an action still counts its work. */
function turnEnded(
  progress: TrajectoryProgress,
  turn: number,
  { record, calls: callsBegun, workedMs, loopState, invalidLimit }: Ended,
): Partial<TrajectoryProgress> {
  const worked = { workedMs: progress.workedMs + workedMs };
  if (progress.turns < turn) return worked;
  const calls = policyCalls(record);
  const toolCalls = progress.toolCalls + calls.length;
  return {
    ...worked,
    loopState,
    calls: callsBegun,
    toolCalls,
    ...afterTurn(progress, record.agent, toolCalls, { turn, calls: callsBegun }),
    validCalls: progress.validCalls + calls.filter((call) => call.valid).length,
    invalidInARow: invalidInARow(progress.invalidInARow, calls, invalidLimit),
    shown: withTurn(progress.shown, record),
  };
}

function ordersAfter(orders: OrdersState, event: OrderEvent): Partial<OrdersState> {
  switch (event.type) {
    case "paused":
      return { paused: event.reason === undefined ? {} : { reason: event.reason } };
    case "resumed":
      return { paused: undefined };
    case "cancelled":
      return { cancelled: event.reason };
    case "told":
      return { messages: [...orders.messages, event.message] };
    case "gate":
      return { isAtGate: event.isAtGate };
    case "asked":
      return withCall(orders, event.call.call, { state: "waiting", call: event.call });
    case "decided":
      return withCall(orders, event.call, { state: "decided", decision: event.decision });
    case "answered":
      return withoutWaiting(orders, event.call);
    case "closed":
      return { isClosed: true };
  }
}

function withCall({ calls }: OrdersState, call: string, asked: Asked): Pick<OrdersState, "calls"> {
  return { calls: new Map(calls).set(call, asked) };
}

/** A decision is kept, so that a later order about the call can be rejected with it. */
function withoutWaiting({ calls }: OrdersState, call: string): Pick<OrdersState, "calls"> {
  return { calls: new Map([...calls].filter(([key, { state }]) => key !== call || state === "decided")) };
}

function withName(names: string[], name: string): string[] {
  return names.includes(name) ? names : [...names, name];
}
