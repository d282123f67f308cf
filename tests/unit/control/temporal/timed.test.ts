import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { timed } from "../../../../src/control/temporal/timed.ts";

const { signal } = new AbortController();
const what = "calculator";

afterEach(() => vi.restoreAllMocks());

test("what came before the work began, in a queue, counts for nothing", async () => {
  const { result, seconds } = await timed(
    async (own, begin) => {
      await sleep(400);
      begin();
      await sleep(100, undefined, { signal: own });
      return "done";
    },
    { what, signal, limit: 450 },
  );
  expect(result).toBe("done");
  expect(seconds).toBeGreaterThan(0.09);
  expect(seconds).toBeLessThan(0.4);
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
  await expect(hanging).rejects.toMatchObject({ code: "TIME_LIMIT_REACHED", retryable: false });
  expect(reason).toMatchObject({ params: { what, seconds: 0.05 } });
});

test("time for which the process was stopped counts for a few seconds at most", async () => {
  const now = performance.now.bind(performance);
  const { seconds } = await timed(
    async () => {
      await sleep(20);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 3_600_000); // SIGSTOP, SIGCONT an hour later
      await sleep(20);
    },
    { what, signal, limit: 60_000 },
  );
  expect(seconds).toBeGreaterThan(1);
  expect(seconds).toBeLessThan(10);
});

test("a cancellation ends the work with its own reason", async () => {
  const controller = new AbortController();
  const working = timed(() => new Promise(() => {}), { what, signal: controller.signal, limit: 60_000 });
  controller.abort(new Error("cancelled"));
  await expect(working).rejects.toThrow("cancelled");
});
