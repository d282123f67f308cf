import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { storageTrouble } from "../../../../src/control/supervision/storage-trouble.ts";

const minute = 60_000;
const full = { notice: "turn-1.json can't be written: the disk is full.", code: "DISK_FULL", over: false };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a run that can't write for five minutes stops, and says why and what to do", async () => {
  const trouble = storageTrouble("small-1");
  const failed = expect(trouble.failed).rejects.toThrow(
    "The run small-1 stopped, because nothing could be read or written for 5 minutes. turn-1.json can't be written: the disk is full. " +
      "Then run `npx everturn resume small-1`.",
  );
  for (let waited = 0; waited <= 5; waited++) {
    trouble.hear(full);
    await vi.advanceTimersByTimeAsync(minute);
  }
  await failed;
});

test("what is written after all starts the five minutes anew", async () => {
  const trouble = storageTrouble("small-1");
  let hasFailed = false;
  trouble.failed.catch(() => {
    hasFailed = true;
  });
  for (let times = 0; times < 4; times++) {
    trouble.hear(full);
    await vi.advanceTimersByTimeAsync(4 * minute);
    trouble.hear({ ...full, over: true });
    await vi.advanceTimersByTimeAsync(10 * minute);
  }
  expect(hasFailed).toBe(false);
});
