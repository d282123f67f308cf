import { expect, test } from "vitest";
import type { Call } from "../../../../src/contracts/generated/trajectory.ts";
import { commonObservation } from "../../../../src/run/projections/common-observation.ts";

const answer = { action: "5", toolCalls: [] };

function called(a: number, observation: string, change: Partial<Call> = {}) {
  const call: Call = { tool: "add", arguments: { a }, observation, valid: true, attempts: 1, ...change };
  return { turns: [{ action: "…", toolCalls: [call] }, answer] };
}

const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

test("an observation that does not depend on the arguments is found", () => {
  const same = numbers.map((a) => called(a, a === 1 ? "2" : ""));
  expect(commonObservation(same)).toEqual({ text: "", share: 0.9, calls: 10 });
  const long = numbers.map((a) => called(a, "x".repeat(300)));
  expect(commonObservation(long)?.text).toBe("x".repeat(200));
});

test("different observations, equal arguments and few calls show nothing", () => {
  expect(commonObservation(numbers.map((a) => called(a, String(a))))).toBeUndefined();
  expect(commonObservation(numbers.map(() => called(1, "2")))).toBeUndefined();
  expect(commonObservation(numbers.slice(0, 7).map((a) => called(a, "")))).toBeUndefined();
});

test("calls do not count if nobody reads their text, they are invalid, or they return images", () => {
  const submitted = numbers.map((a) => ({ turns: called(a, "ok").turns.slice(0, 1) }));
  expect(commonObservation(submitted)).toBeUndefined();
  expect(commonObservation(numbers.map((a) => called(a, "Error", { valid: false })))).toBeUndefined();
  const media = [
    { type: "image" as const, sha256: "0".repeat(64), mediaType: "image/png", size: 1, frames: [] },
  ];
  expect(commonObservation(numbers.map((a) => called(a, "[image]", { media })))).toBeUndefined();
});
