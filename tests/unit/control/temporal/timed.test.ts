import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { timed } from "../../../../src/control/temporal/timed.ts";

const { signal } = new AbortController();
const what = "calculator";

beforeEach(() => {
  vi.useFakeTimers(); // the clock moves only when a test advances it
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("time in a queue, before the work begins, does not count", async () => {
  const working = timed(
    async (_, begin) => {
      await pause(400);
      begin();
      await pause(100);
      return "done";
    },
    { what, signal, limit: 450 },
  );
  await vi.advanceTimersByTimeAsync(500);
  expect(await working).toEqual({ result: "done", seconds: 0.1 });
});

test("work that takes all of its time is ended, whether it heeds its signal or not", async () => {
  let reason: unknown;
  const hanging = timed(
    (own) => {
      own.addEventListener("abort", () => (reason = own.reason));
      return new Promise(() => {});
    },
    { what, signal, limit: 50 },
  );
  const refused = expect(hanging).rejects.toMatchObject({ code: "TIME_LIMIT_REACHED", retryable: false });
  await vi.advanceTimersByTimeAsync(50);
  await refused;
  expect(reason).toMatchObject({ params: { what, seconds: 0.05 } });
});

test("a time for which the process was stopped counts for five seconds", async () => {
  const now = performance.now.bind(performance);
  const working = timed(
    async () => {
      await pause(20);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 3_600_000); // SIGSTOP, SIGCONT an hour later
      await pause(20);
    },
    { what, signal, limit: 60_000 },
  );
  await vi.advanceTimersByTimeAsync(40);
  expect((await working).seconds).toBe(5);
});

test("a cancellation ends the work with its own reason", async () => {
  const controller = new AbortController();
  const working = timed(() => new Promise(() => {}), { what, signal: controller.signal, limit: 60_000 });
  controller.abort(new Error("cancelled"));
  await expect(working).rejects.toThrow("cancelled");
});
