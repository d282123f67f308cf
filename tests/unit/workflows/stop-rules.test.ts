import { expect, test } from "vitest";
import { invalidInARow, reachedLimit, timeOfTurn } from "../../../workflows/stop-rules.ts";

const progress = {
  turns: 4,
  tokens: { prompt: 10, action: 20, observation: 30 },
  invalidInARow: 2,
};

test("a trajectory ends at the first limit that it has reached, and goes on without any", () => {
  expect(reachedLimit({}, progress, 100)).toBeUndefined();
  expect(reachedLimit({ turns: 5, tokens: 61, invalidCalls: 3, time: 101 }, progress, 100)).toBeUndefined();
  expect(reachedLimit({ turns: 4 }, progress, 100)).toBe("turn-limit");
  expect(reachedLimit({ tokens: 60 }, progress, 100)).toBe("token-limit");
  expect(reachedLimit({ time: 100 }, progress, 100)).toBe("time-limit");
  expect(reachedLimit({ turns: 4, invalidCalls: 2 }, progress, 100)).toBe("invalid-limit");
});

test("a turn may take its own time, or what is left of the trajectory's", () => {
  expect(timeOfTurn({}, 100)).toBeUndefined();
  expect(timeOfTurn({ turnTime: 50 }, 100)).toBe(50);
  expect(timeOfTurn({ turnTime: 50, time: 130 }, 100)).toBe(30);
  expect(timeOfTurn({ time: 90 }, 100)).toBe(0);
});

test("calls that are not valid count in a row, over turns, until one is valid", () => {
  const calls = (...valid: boolean[]) =>
    valid.map((one) => ({ tool: "a", arguments: {}, observation: "", valid: one, attempts: 1 }));
  expect(invalidInARow(0, calls(true, false, false))).toBe(2);
  expect(invalidInARow(2, calls(false))).toBe(3);
  expect(invalidInARow(2, calls(true))).toBe(0);
  expect(invalidInARow(2, [])).toBe(2);
  expect(invalidInARow(1, calls(false, true), 2)).toBe(2);
});
