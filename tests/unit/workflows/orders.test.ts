import { expect, test } from "vitest";
import { argumentsProblem } from "../../../workflows/orders-arguments.ts";
import { callToDecide, endProblem, ordersState, stateName } from "../../../workflows/orders-state.ts";

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

test("an approval is for a call that waits, once", () => {
  const state = ordersState({ messages: [] });
  expect(callToDecide(state, undefined)).toEqual({ problem: "no call waits for approval" });
  state.waiting.set("1/0", waitingCall("1/0"));
  expect(callToDecide(state, undefined)).toEqual({ call: "1/0" });
  expect(callToDecide(state, "1/1")).toEqual({ problem: "no call 1/1 waits; these wait: 1/0" });
  state.waiting.set("1/1", waitingCall("1/1"));
  expect(callToDecide(state, undefined)).toEqual({ problem: "say which call; these wait: 1/0, 1/1" });
  state.decided.set("1/0", { decision: "denied", reason: "no" });
  expect(callToDecide(state, "1/0")).toEqual({ problem: "the call 1/0 was denied before" });
  expect(callToDecide(state, undefined)).toEqual({ call: "1/1" });
});

test("the state has a name at every moment", () => {
  const state = ordersState({ messages: [] });
  expect(stateName(state)).toBe("running");
  state.paused = {};
  expect(stateName(state)).toBe("pausing");
  state.isAtGate = true;
  expect(stateName(state)).toBe("paused");
  state.waiting.set("1/0", waitingCall("1/0"));
  expect(stateName(state)).toBe("waiting for approval");
  state.cancelled = "enough";
  expect(stateName(state)).toBe("cancelling");
  expect(endProblem(state)).toBe("it was cancelled: enough");
  state.isClosed = true;
  expect(stateName(state)).toBe("ended");
  expect(endProblem(state)).toBe("its turns have ended");
});

test("what was ordered goes on after a trajectory continued as new", () => {
  const carried = { paused: { reason: "lunch" }, messages: [{ role: "user" as const, content: "Hello." }] };
  const state = ordersState(carried);
  expect(stateName(state)).toBe("pausing");
  expect(state.messages).toEqual(carried.messages);
});
