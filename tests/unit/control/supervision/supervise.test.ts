import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import type { Ending } from "../../../../src/base/processes/process-ending.ts";
import { pauseAfter, supervise } from "../../../../src/control/supervision/supervise.ts";

/** A process that lives for so many milliseconds and then fails. */
function shortLived(milliseconds: number) {
  const child = spawn(process.execPath, ["-e", `setTimeout(() => process.exit(3), ${milliseconds})`]);
  const ended = once(child, "exit").then(
    ([code, signal]): Ending => ({ reason: String(signal ?? code), outOfMemory: false, lines: "" }),
  );
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid, ended, stop };
}

test("pauses grow to five seconds", () => {
  expect([1, 2, 3, 4].map(pauseAfter)).toEqual([200, 800, 3200, 5000]);
});

test("what ends without progress is started again four times and then given up", async () => {
  const ends: number[] = [];
  const supervised = await supervise({
    start: async () => shortLived(0),
    progress: () => 0,
    onEnd: (_, times) => ends.push(times),
    giveUp: ({ reason }, times) => new Error(`ended ${times} times with ${reason}`),
  });
  await expect(supervised.failed).rejects.toThrow("ended 5 times with 3");
  expect(ends).toEqual([1, 2, 3, 4]);
  expect(supervised.isUp()).toBe(false);
  await supervised.stop();
});

test("progress between two ends starts the count again", async () => {
  let done = 0;
  const ends: number[] = [];
  const supervised = await supervise({
    start: async () => {
      done++;
      return shortLived(0);
    },
    progress: () => done,
    onEnd: (_, times) => ends.push(times),
    giveUp: () => new Error("given up"),
  });
  await vi.waitUntil(() => ends.length > 5, { timeout: 100_000 });
  await supervised.stop();
  expect(new Set(ends)).toEqual(new Set([1]));
});

test("what is stopped stays stopped, also while it is started again", async () => {
  let starts = 0;
  const supervised = await supervise({
    start: async (stopping) => {
      starts++;
      if (starts > 1) await once(stopping, "abort");
      return shortLived(starts > 1 ? 60_000 : 0);
    },
    progress: () => 0,
    onEnd: () => {},
    giveUp: () => new Error("given up"),
  });
  await vi.waitUntil(() => starts === 2, { timeout: 100_000 });
  await supervised.stop();
  expect(starts).toBe(2);
});
