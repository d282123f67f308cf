import { CancellationScope, condition, rootCause } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { Approval } from "../src/contracts/approval.ts";
import type { JsonObject } from "../src/contracts/json.ts";
import type { SpokenMessage } from "../src/contracts/message.ts";
import type { LiveStatus, OrderName, Transcript, WaitingCall } from "../src/contracts/orders.ts";
import { failure } from "./failure.ts";
import { argumentsProblem } from "./orders-arguments.ts";
import { handleOrders, type OrderArguments } from "./orders-handlers.ts";
import { awaited, callToDecide, endProblem, stateName, undecided } from "./orders-state.ts";
import { describeWaiting } from "./search-attributes.ts";
import type { OrderEvent, OrdersState } from "./trajectory-state.ts";

/** What orders need of the trajectory. */
export interface Ordered {
  id: string;
  /** What has been ordered of it. */
  orders(): OrdersState;
  /** What an order changes. */
  apply(event: OrderEvent): void;
  /** How far it is. */
  view(): Omit<Transcript, Exclude<keyof LiveStatus, "turn" | "tokens">>;
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
  /** The reason for which it was cancelled; undefined if it was not. */
  cancelled(): string | undefined;
  status(): LiveStatus;
  /** The turns have ended: later orders are refused. */
  close(): void;
}

/** Takes orders from now on. */
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

  /** Of two orders about one call in one task of the workflow, the validator lets both pass. */
  function decide(
    order: "approve" | "deny" | "answer",
    asked: string | undefined,
    of: (call: WaitingCall) => Approval,
  ) {
    const found = callToDecide(now(), order, asked);
    const call = found.problem === undefined ? now().waiting.get(found.call) : undefined;
    if (call === undefined) return refuse(order, found.problem ?? "no such call waits");
    apply({ type: "decided", call: call.call, decision: of(call) });
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
        const isDecided = () => now().decided.has(call);
        if (timeout === undefined) await condition(isDecided);
        else await condition(isDecided, timeout);
        const decision = now().decided.get(call) ?? timedOut(asked, timeout);
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
