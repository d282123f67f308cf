import { CancellationScope, condition, rootCause } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { Approval } from "../src/contracts/approval.ts";
import type { JsonObject } from "../src/contracts/json.ts";
import type { SpokenMessage } from "../src/contracts/message.ts";
import type { LiveStatus, OrderName, WaitingCall } from "../src/contracts/orders.ts";
import type { LiveView } from "../src/run/projections/live-view.ts";
import { failure } from "./failure.ts";
import { argumentsProblem } from "./orders-arguments.ts";
import { handleOrders, type OrderArguments } from "./orders-handlers.ts";
import { awaited, callToDecide, endProblem, stateName, undecided } from "./orders-state.ts";
import { describeWaiting } from "./search-attributes.ts";
import type { OrderEvent, OrdersState } from "./trajectory-state.ts";

/** The parts of a trajectory that orders use. */
export interface Ordered {
  id: string;
  /** The state of its orders. */
  orders(): OrdersState;
  /** Applies an order's change. */
  apply(event: OrderEvent): void;
  /** Returns its progress for people. */
  view(): LiveView;
  /** Rejects if the policy's chat template does not write the message. */
  check(message: SpokenMessage): Promise<unknown>;
  /** Called when the trajectory's description in the UI has changed. */
  onChange(): void;
}

/** The orders that people give a live trajectory, and the points where it obeys them. */
export interface LiveOrders {
  isPaused(): boolean;
  /** The scope of the trajectory's work. The order `cancel` cancels it. */
  scope: CancellationScope;
  /** Waits between two turns while the trajectory is paused. */
  gate(): Promise<void>;
  /** Waits at most `timeout` milliseconds until a person decides about a tool call. */
  approval(call: Omit<WaitingCall, "since">, timeout: number | undefined): Promise<Approval>;
  /** The reason of its cancellation. Undefined if it was not cancelled. */
  cancelled(): string | undefined;
  status(): LiveStatus;
  /** Ends the turns: later orders are rejected. */
  close(): void;
}

/** Accepts orders from now on. */
export function takeOrders(trajectory: Ordered): LiveOrders {
  const scope = new CancellationScope();
  const now = trajectory.orders;
  let described: string | null = null;

  function apply(event: OrderEvent): void {
    trajectory.apply(event);
    const state = now();
    const waitsFor = awaited(state) ?? (state.isAtGate ? "paused" : null);
    if (waitsFor !== described) describeWaiting(waitsFor);
    described = waitsFor;
    trajectory.onChange();
  }

  function status(): LiveStatus {
    const state = now();
    const { turn, tokens } = trajectory.view();
    const reason = state.cancelled ?? state.paused?.reason;
    const name = stateName(state);
    return defined({
      state: name,
      turn,
      tokens,
      waiting: undecided(state),
      willPause: name.startsWith("waiting for") && state.paused !== undefined ? true : undefined,
      reason,
      messages: state.messages,
    });
  }

  function refuse(order: OrderName, reason: string): never {
    throw failure("ORDER_REFUSED", { order, trajectory: trajectory.id, reason });
  }

  const pause = (reason?: string) => apply({ type: "paused", reason });
  const resume = () => apply({ type: "resumed" });

  function cancel(reason = "no reason was given"): void {
    if (endProblem(now()) !== undefined) return;
    apply({ type: "cancelled", reason });
    scope.cancel();
  }

  /**
   * Checks again, because the validator accepts both of two orders about one call in the same workflow task.
   */
  function decide(
    order: "approve" | "deny" | "answer",
    asked: string | undefined,
    of: (call: WaitingCall) => Approval,
  ) {
    const found = callToDecide(now(), order, asked);
    if (found.problem !== undefined) return refuse(order, found.problem);
    apply({ type: "decided", call: found.call.call, decision: of(found.call) });
  }

  async function say(text: string, role: SpokenMessage["role"]): Promise<void> {
    const message: SpokenMessage = { role, content: text };
    try {
      await trajectory.check(message);
    } catch (error) {
      refuse("say", (rootCause(error) ?? String(error)).replace(/\.$/, ""));
    }
    const ended = endProblem(now());
    if (ended !== undefined) refuse("say", ended);
    apply({ type: "told", message });
  }

  function problem(order: OrderName, given: OrderArguments | undefined): string | undefined {
    const state = now();
    const wrong = argumentsProblem(order, given) ?? endProblem(state);
    if (wrong !== undefined) return wrong;
    if (order === "pause" && state.paused !== undefined) return "it is paused already";
    if (order === "resume" && state.paused === undefined) return "it is not paused";
    if (order !== "approve" && order !== "deny" && order !== "answer") return undefined;
    return callToDecide(state, order, typeof given?.call === "string" ? given.call : undefined).problem;
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
    answer: (asked, text) =>
      decide("answer", asked, (call) => ({ decision: "answered", arguments: call.arguments, answer: text })),
    deny: (asked, reason) => decide("deny", asked, () => ({ decision: "denied", reason })),
    validate: (order, given) => {
      const reason = problem(order, given);
      if (reason !== undefined) refuse(order, reason);
    },
  });

  return {
    scope,
    status,
    isPaused: () => now().paused !== undefined,
    gate: async () => {
      apply({ type: "gate", isAtGate: true });
      try {
        await condition(() => now().paused === undefined);
      } finally {
        apply({ type: "gate", isAtGate: false });
      }
    },
    approval: async (asked, timeout) => {
      const { call } = asked;
      apply({ type: "asked", call: { ...asked, since: new Date().toISOString() } });
      try {
        const isDecided = () => now().calls.get(call)?.state === "decided";
        if (timeout === undefined) await condition(isDecided);
        else await condition(isDecided, timeout);
        const one = now().calls.get(call);
        const decision = one?.state === "decided" ? one.decision : timedOut(asked, timeout);
        trajectory.apply({ type: "decided", call, decision });
        return decision;
      } finally {
        apply({ type: "answered", call });
      }
    },
    cancelled: () => now().cancelled,
    close: () => trajectory.apply({ type: "closed" }),
  };
}

function timedOut({ isQuestion }: Pick<WaitingCall, "isQuestion">, timeout = 0): Approval {
  const missing = isQuestion === true ? "answered" : "approved the call";
  return { decision: "timed-out", reason: `error: nobody ${missing} within ${timeout / 1000} s` };
}
