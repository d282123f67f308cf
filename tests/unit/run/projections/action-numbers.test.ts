import { expect, test } from "vitest";
import type { Call } from "../../../../src/contracts/generated/trajectory.ts";
import { actionNumbers, countActions } from "../../../../src/run/projections/action-numbers.ts";

const call: Call = { tool: "add", arguments: { a: 1 }, observation: "2", valid: true, attempts: 1 };
const wrong: Call = { ...call, arguments: { b: 1 }, valid: false };
const unreadable: Call = { ...call, tool: "", arguments: "<tool_call>{", valid: false, attempts: 0 };

function withCalls(calls: Call[][], metrics: Record<string, number> = {}) {
  return { turns: calls.map((toolCalls) => ({ action: "…", toolCalls })), metrics };
}

function numbersOf(...trajectories: ReturnType<typeof withCalls>[]) {
  return actionNumbers(trajectories.map(countActions));
}

test("unreadable calls are told apart from tool calls", () => {
  expect(numbersOf(withCalls([[unreadable]]), withCalls([[call, wrong], [call]]))).toEqual({
    toolCallRate: 0.5,
    validCallRate: 0.5,
    unreadableCallRate: 0.25,
    cutActionShare: 0,
  });
});

test("cut actions are a share of all actions", () => {
  expect(numbersOf(withCalls([[], []], { cutActions: 1 }), withCalls([[], []]))).toMatchObject({
    cutActionShare: 0.25,
  });
});

test("calls that the loop made do not count", () => {
  expect(numbersOf(withCalls([[{ ...unreadable, byLoop: true }]]))).toMatchObject({
    toolCallRate: 0,
    validCallRate: 1,
    unreadableCallRate: 0,
  });
});

test("without a call none is wrong", () => {
  expect(numbersOf(withCalls([[]]))).toMatchObject({ validCallRate: 1, unreadableCallRate: 0 });
  expect(numbersOf()).toMatchObject({ toolCallRate: 0, cutActionShare: 0 });
});
