import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HostSettings } from "../../../../src/contracts/plan.ts";
import { createRate } from "../../../../src/work/tools/rate.ts";
import { createToolHost } from "../../../../src/work/tools/tool-host.ts";

const limits: HostSettings = { failures: 3, pause: 40, longestPause: 160, patience: 10_000 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Calls on a host, and when each began, ms. */
function testCalls(settings: Partial<HostSettings>, rate?: string) {
  const host = createToolHost("api", { ...limits, ...settings }, () => {});
  const own = rate === undefined ? undefined : createRate(rate);
  const begun: [name: string, at: number][] = [];
  const waits: string[] = [];
  const start = performance.now();
  const call = (name: string, signal = new AbortController().signal) =>
    host.call(async () => void begun.push([name, Math.round(performance.now() - start)]), {
      slots: undefined,
      rate: own,
      signal,
      onWait: (reason) => void (reason !== undefined && waits.push(reason)),
    });
  return { begun, waits, call };
}

test.for([
  ["4/s", 250],
  ["60/m", 1000],
  ["7200/h", 500],
] as const)("%s lets a call begin every %i ms, in the order in which they came", async ([rate, interval]) => {
  const { begun, waits, call } = testCalls({}, rate);
  const calls = ["a", "b", "c"].map((name) => call(name));
  await vi.advanceTimersByTimeAsync(10 * interval);
  await Promise.all(calls);
  expect(begun).toEqual([
    ["a", 0],
    ["b", interval],
    ["c", 2 * interval],
  ]);
  expect(waits, "those after the first one").toEqual(["the rate is reached", "the rate is reached"]);
  await call("late");
  expect(begun.at(-1), "nobody waits who comes later").toEqual(["late", 10 * interval]);
});

test("a host's rate is that of all who call it, and the slower of two counts", async () => {
  const { begun, call } = testCalls({ rate: "2/s" }, "4/s");
  const calls = ["a", "b", "c"].map((name) => call(name));
  await vi.advanceTimersByTimeAsync(5000);
  await Promise.all(calls);
  expect(begun.map(([, at]) => at)).toEqual([0, 500, 1000]);
});

test("a call that is cancelled while it waits costs the others none of their turns", async () => {
  const { begun, call } = testCalls({}, "1/s");
  const leaving = new AbortController();
  const first = call("first");
  const left = call("left", leaving.signal);
  const next = call("next");
  left.catch(() => {}); // looked at below
  await vi.advanceTimersByTimeAsync(500);
  leaving.abort(new Error("cancelled"));
  await expect(left).rejects.toThrow("cancelled");
  await vi.advanceTimersByTimeAsync(600);
  await Promise.all([first, next]);
  expect(begun).toEqual([
    ["first", 0],
    ["next", 1000],
  ]);
});
