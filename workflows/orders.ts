import { CancellationScope, condition, rootCause } from "@temporalio/workflow";
import type { JsonObject } from "../src/contracts/json.ts";
import type {
  Approval,
  CarriedOrders,
  OrderName,
  SpokenMessage,
  TrajectoryStatus,
  TrajectoryTranscript,
  WaitingCall,
} from "../src/contracts/orders.ts";
import { failure } from "./failure.ts";
import { argumentsProblem } from "./orders-arguments.ts";
import { handleOrders, type OrderArguments } from "./orders-handlers.ts";
import { callToDecide, endProblem, ordersState, stateName, undecided } from "./orders-state.ts";
import { describeWaiting } from "./search-attributes.ts";

/** What orders need of the trajectory. */
export interface OrderedTrajectory {
  id: string;
  /** How far it is. */
  view(): Omit<TrajectoryTranscript, Exclude<keyof TrajectoryStatus, "turn" | "tokens">>;
  /** Rejects if the policy's chat template has no place for the message. */
  check(message: SpokenMessage): Promise<unknown>;
  /** What the UI says about it has changed. */
  onChange(): void;
}

/** The orders that people give a live trajectory, and where it obeys them. */
export interface LiveOrders {
  isPaused(): boolean;
  /** What the trajectory does; the order `cancel` cancels it. */
  scope: CancellationScope;
  /** Waits while it is paused, between two turns. */
  gate(): Promise<void>;
  /** Waits until a person decides about a tool call, `timeout` milliseconds at most. */
  approval(call: Omit<WaitingCall, "since">, timeout: number | undefined): Promise<Approval>;
  /** The messages that people added, each once. */
  takeMessages(): SpokenMessage[];
  hasMessages(): boolean;
  /** The reason for which it was cancelled; undefined if it was not. */
  cancelled(): string | undefined;
  status(): TrajectoryStatus;
  /** The turns have ended: later orders are refused. */
  close(): void;
  carried(): CarriedOrders;
}

/** Takes orders from now on. */
export function takeOrders(trajectory: OrderedTrajectory, carried: CarriedOrders): LiveOrders {
  const scope = new CancellationScope();
  const state = ordersState(carried);
  let described: string | null = null;

  function changed(): void {
    const waitsFor = undecided(state).length > 0 ? "approval" : state.isAtGate ? "paused" : null;
    if (waitsFor !== described) describeWaiting(waitsFor);
    described = waitsFor;
    trajectory.onChange();
  }

  function status(): TrajectoryStatus {
    const { turn, tokens } = trajectory.view();
    const reason = state.cancelled ?? state.paused?.reason;
    const name = stateName(state);
    return {
      ...{ state: name, turn, tokens, waiting: undecided(state) },
      ...(name === "waiting for approval" && state.paused !== undefined ? { willPause: true } : {}),
      ...(reason === undefined ? {} : { reason }),
      messages: state.messages,
    };
  }

  function refuse(order: OrderName, reason: string): never {
    throw failure("ORDER_REFUSED", { order, trajectory: trajectory.id, reason });
  }

  function pause(reason?: string): void {
    state.paused = reason === undefined ? {} : { reason };
    changed();
  }

  function resume(): void {
    state.paused = undefined;
    changed();
  }

  function cancel(reason = "no reason was given"): void {
    if (endProblem(state) !== undefined) return;
    state.cancelled = reason;
    changed();
    scope.cancel();
  }

  /** Of two orders about one call in one task of the workflow, the validator lets both pass. */
  function decide(order: "approve" | "deny", asked: string | undefined, of: (call: WaitingCall) => Approval) {
    const found = callToDecide(state, asked);
    const call = found.problem === undefined ? state.waiting.get(found.call) : undefined;
    if (call === undefined) return refuse(order, found.problem ?? "no such call waits");
    state.decided.set(call.call, of(call));
    changed();
  }

  async function say(text: string, role: SpokenMessage["role"]): Promise<void> {
    const message: SpokenMessage = { role, content: text };
    try {
      await trajectory.check(message);
    } catch (error) {
      refuse("say", (rootCause(error) ?? String(error)).replace(/\.$/, ""));
    }
    const ended = endProblem(state);
    if (ended !== undefined) refuse("say", ended);
    state.messages = [...state.messages, message];
    changed();
  }

  function problem(order: OrderName, given: OrderArguments | undefined): string | undefined {
    const wrong = argumentsProblem(order, given) ?? endProblem(state);
    if (wrong !== undefined) return wrong;
    if (order === "pause" && state.paused !== undefined) return "it is paused already";
    if (order === "resume" && state.paused === undefined) return "it is not paused";
    if (order !== "approve" && order !== "deny") return undefined;
    return callToDecide(state, typeof given?.call === "string" ? given.call : undefined).problem;
  }

  handleOrders({
    transcript: () => ({ ...trajectory.view(), ...status() }),
    status,
    pause,
    resume,
    cancel,
    say,
    approve: (asked, parameters?: JsonObject) =>
      decide("approve", asked, (call) =>
        parameters === undefined
          ? { decision: "approved", arguments: call.arguments }
          : { decision: "edited", arguments: parameters },
      ),
    deny: (asked, reason) => decide("deny", asked, () => ({ decision: "denied", reason })),
    validate: (order, given) => {
      const reason = problem(order, given);
      if (reason !== undefined) refuse(order, reason);
    },
  });

  return {
    scope,
    status,
    isPaused: () => state.paused !== undefined,
    gate: async () => {
      state.isAtGate = true;
      changed();
      try {
        await condition(() => state.paused === undefined);
      } finally {
        state.isAtGate = false;
        changed();
      }
    },
    approval: async (asked, timeout) => {
      const { call } = asked;
      state.waiting.set(call, { ...asked, since: new Date().toISOString() });
      changed();
      try {
        const isDecided = () => state.decided.has(call);
        if (timeout === undefined) await condition(isDecided);
        else await condition(isDecided, timeout);
        const decision = state.decided.get(call) ?? timedOut(timeout);
        state.decided.set(call, decision);
        return decision;
      } finally {
        state.waiting.delete(call);
        changed();
      }
    },
    takeMessages: () => state.messages.splice(0),
    hasMessages: () => state.messages.length > 0,
    cancelled: () => state.cancelled,
    close: () => {
      state.isClosed = true;
    },
    carried: () => ({
      ...(state.paused === undefined ? {} : { paused: state.paused }),
      messages: state.messages,
    }),
  };
}

function timedOut(timeout = 0): Approval {
  return { decision: "timed-out", reason: `error: nobody approved the call within ${timeout / 1000} s` };
}
