import { expect, test } from "vitest";
import { argumentsProblem } from "../../../workflows/orders-arguments.ts";
import { callToDecide, endProblem, stateName } from "../../../workflows/orders-state.ts";
import {
  begun,
  nextState,
  type OrderEvent,
  ordersState,
  stateOf,
} from "../../../workflows/trajectory-state.ts";

const waitingCall = (call: string) => ({ call, tool: "shell", arguments: {}, since: "2026-11-21T12:00:00Z" });

test("an order's JSON is checked: names, types, what must be there", () => {
  expect(argumentsProblem("pause", undefined)).toBeUndefined();
  expect(argumentsProblem("pause", null)).toBeUndefined();
  expect(argumentsProblem("approve", { call: "1/0", arguments: { a: 1 } })).toBeUndefined();
  expect(argumentsProblem("approve", { args: {} })).toBe(
    "it has no argument “args”; it takes call, arguments",
  );
  expect(argumentsProblem("approve", { arguments: [1] })).toBe("“arguments” must be an object");
  expect(argumentsProblem("resume", { reason: "x" })).toBe("it has no argument “reason”; it takes none");
  expect(argumentsProblem("deny", { call: "1/0" })).toMatch(/^it lacks “reason”, such as/);
  expect(argumentsProblem("deny", { reason: " " })).toBe("“reason” must be a text");
  expect(argumentsProblem("say", { text: "a", role: "tool" })).toBe('“role” must be "user" or "system"');
  expect(argumentsProblem("say", "hello")).toMatch(/^its argument must be one JSON object/);
});

/** The orders of a trajectory after `events`. */
function after(...events: OrderEvent[]) {
  return events.reduce(nextState, stateOf(begun(0))).orders;
}

const asked = (call: string): OrderEvent => ({ type: "asked", call: waitingCall(call) });
const noLonger = (call: string): OrderEvent => ({ type: "answered", call });
const denied: OrderEvent = { type: "decided", call: "1/0", decision: { decision: "denied", reason: "no" } };

test("an approval is for a call that waits, once", () => {
  expect(callToDecide(after(), "approve", undefined)).toEqual({ problem: "no call waits for approval" });
  const one = after(asked("1/0"));
  expect(callToDecide(one, "approve", undefined)).toEqual({ call: waitingCall("1/0") });
  expect(callToDecide(one, "approve", "1/1")).toEqual({ problem: "no call 1/1 waits; these wait: 1/0" });
  const two = after(asked("1/0"), asked("1/1"));
  expect(callToDecide(two, "approve", undefined)).toEqual({
    problem: "say which call; these wait: 1/0, 1/1",
  });
  const decided = after(asked("1/0"), asked("1/1"), denied);
  expect(callToDecide(decided, "approve", "1/0")).toEqual({ problem: "the call 1/0 was denied before" });
  expect(callToDecide(decided, "approve", undefined)).toEqual({ call: waitingCall("1/1") });
  const stopped = after(asked("1/0"), asked("1/1"), denied, ...["1/0", "1/1"].map(noLonger));
  expect(callToDecide(stopped, "approve", "1/0")).toEqual({ problem: "the call 1/0 was denied before" });
  expect(callToDecide(stopped, "approve", "1/1")).toEqual({ problem: "no call waits for approval" });
});

test("a question is answered, and a call that needs approval is approved", () => {
  const call = { ...waitingCall("1/1"), isQuestion: true as const };
  const question: OrderEvent = { type: "asked", call };
  const alone = after(question);
  expect(stateName(alone)).toBe("waiting for an answer");
  expect(callToDecide(alone, "answer", undefined)).toEqual({ call });
  expect(callToDecide(alone, "deny", undefined)).toEqual({ call });
  expect(callToDecide(alone, "approve", "1/1")).toEqual({ problem: "the call 1/1 is a question: answer it" });
  const both = after(asked("1/0"), question);
  expect(stateName(both)).toBe("waiting for approval");
  expect(callToDecide(both, "answer", "1/0")).toEqual({
    problem: "the call 1/0 is no question: approve it",
  });
  expect(argumentsProblem("answer", { call: "1/1" })).toBe('it lacks “text”, such as {"text": "Wednesday"}');
});

test("the state has a name at every moment", () => {
  const events: [OrderEvent, string][] = [
    [{ type: "paused", reason: undefined }, "pausing"],
    [{ type: "gate", isAtGate: true }, "paused"],
    [asked("1/0"), "waiting for approval"],
    [denied, "paused"],
    [{ type: "answered", call: "1/0" }, "paused"],
    [{ type: "gate", isAtGate: false }, "pausing"],
    [{ type: "resumed" }, "running"],
    [{ type: "cancelled", reason: "enough" }, "cancelling"],
    [{ type: "closed" }, "ended"],
  ];
  expect(stateName(after())).toBe("running");
  for (const [index, [event, name]] of events.entries()) {
    const state = after(...events.slice(0, index + 1).map(([one]) => one));
    expect(stateName(state), event.type).toBe(name);
    if (name === "cancelling") expect(endProblem(state)).toBe("it was cancelled: enough");
    if (name === "ended") expect(endProblem(state)).toBe("its turns have ended");
  }
});

test("what was ordered goes on after a trajectory continued as new", () => {
  const carried = { paused: { reason: "lunch" }, messages: [{ role: "user" as const, content: "Hello." }] };
  const state = ordersState(carried);
  expect(stateName(state)).toBe("pausing");
  expect(state.messages).toEqual(carried.messages);
});
