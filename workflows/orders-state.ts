import type { LiveStatus, WaitingCall } from "../src/contracts/orders.ts";
import type { OrdersState } from "./trajectory-state.ts";

/** Names the state for people. */
export function stateName(state: OrdersState): LiveStatus["state"] {
  if (state.isClosed) return "ended";
  if (state.cancelled !== undefined) return "cancelling";
  const waitsFor = awaited(state);
  if (waitsFor !== undefined) return waitsFor === "answer" ? "waiting for an answer" : "waiting for approval";
  if (state.paused === undefined) return "running";
  return state.isAtGate ? "paused" : "pausing";
}

/** What a person needs to do. Returns "approval" if there are calls of both kinds. */
export function awaited(state: OrdersState): "approval" | "answer" | undefined {
  const open = undecided(state);
  if (open.length === 0) return undefined;
  return open.every(({ isQuestion }) => isQuestion) ? "answer" : "approval";
}

/** The calls that wait for a person. */
export function undecided({ calls }: OrdersState): WaitingCall[] {
  return [...calls.values()].flatMap((one) => (one.state === "waiting" ? [one.call] : []));
}

/** Why no order is accepted any more. Undefined while orders are accepted. */
export function endProblem({ isClosed, cancelled }: OrdersState): string | undefined {
  if (isClosed) return "its turns have ended";
  return cancelled === undefined ? undefined : `it was cancelled: ${cancelled}`;
}

/** Returns the call that an approval, an answer or a denial refers to, or the reason why none matches. */
export function callToDecide(
  state: OrdersState,
  order: "approve" | "answer" | "deny",
  asked: string | undefined,
): { call: WaitingCall; problem?: undefined } | { problem: string } {
  const open = undecided(state).map((one) => one.call);
  const call = asked ?? (open.length === 1 ? open[0] : undefined);
  const found = call === undefined ? undefined : state.calls.get(call);
  if (found?.state === "waiting") {
    const { isQuestion = false } = found.call;
    if (order === "approve" && isQuestion) return { problem: `the call ${call} is a question: answer it` };
    if (order === "answer" && !isQuestion) return { problem: `the call ${call} is no question: approve it` };
    return { call: found.call };
  }
  if (found !== undefined) return { problem: `the call ${call} was ${found.decision.decision} before` };
  const list = open.length === 0 ? "no call waits for approval" : `these wait: ${open.join(", ")}`;
  if (open.length === 0) return { problem: list };
  return { problem: asked === undefined ? `say which call; ${list}` : `no call ${asked} waits; ${list}` };
}
