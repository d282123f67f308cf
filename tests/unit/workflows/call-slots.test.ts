import { expect, test } from "vitest";
import type { Turn } from "../../../src/contracts/generated/trajectory.ts";
import { callSlots } from "../../../workflows/call-slots.ts";

const record = (tool: string) => ({ tool, arguments: {}, observation: "3", valid: true, attempts: 1 });

test("calls made in parallel stand in the order in which they were made, whichever is answered first", () => {
  const turn: Turn = { action: "two calls", toolCalls: [] };
  const slots = callSlots(turn);
  const [first, second] = [slots.take(), slots.take()];
  expect([first.call, second.call]).toEqual([0, 1]);
  second.fill(record("second"));
  expect(turn.toolCalls).toEqual([record("second")]);
  first.fill(record("first"));
  expect(turn.toolCalls).toEqual([record("first"), record("second")]);
});
