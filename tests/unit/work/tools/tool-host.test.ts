import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import type { HostSettings } from "../../../../src/contracts/plan.ts";
import type { ToolHostChange } from "../../../../src/contracts/tool-host-change.ts";
import { createSlots } from "../../../../src/work/tools/slots.ts";
import { createToolHost } from "../../../../src/work/tools/tool-host.ts";

const limits: HostSettings = { failures: 3, pause: 40, longestPause: 160, patience: 10_000 };

/** A host under test, with what its callers and its changes tell. */
function testHost(settings: Partial<HostSettings> = {}) {
  const changes: ToolHostChange[] = [];
  const waits: (string | undefined)[] = [];
  const host = createToolHost("sandbox", { ...limits, ...settings }, (change) => changes.push(change));
  const { signal } = new AbortController();
  const options = { slots: undefined, signal, onWait: (reason: string | undefined) => waits.push(reason) };
  return { host, changes, waits, options };
}

function failure(): never {
  throw new EverturnError("TOOL_FAILED", { tool: "sandbox", reason: "connection refused" });
}

test("no more calls at once than the host and the tool allow, in the order in which they came", async () => {
  const { host, options } = testHost({ concurrency: 3 });
  const slots = createSlots(2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const call = (number: number, ownSlots: typeof slots | undefined) =>
    host.call(
      async () => {
        order.push(number);
        most = Math.max(most, ++running);
        await sleep(5);
        running--;
      },
      { ...options, slots: ownSlots },
    );
  await Promise.all([1, 2, 3, 4, 5, 6].map((number) => call(number, slots)));
  expect(most).toBe(2);
  expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  await Promise.all([7, 8, 9, 10, 11].map((number) => call(number, undefined)));
  expect(most).toBe(3);
});

test("a call that is cancelled while it waits leaves the line, and the next one gets the slot", async () => {
  const slots = createSlots(1);
  const { signal } = new AbortController();
  const giveBack = await slots.take(signal);
  const leaving = new AbortController();
  const left = slots.take(leaving.signal);
  const next = slots.take(signal);
  leaving.abort(new Error("cancelled"));
  await expect(left).rejects.toThrow("cancelled");
  giveBack();
  await expect(next).resolves.toBeTypeOf("function");
});

test("a host that keeps failing is paused: calls wait, probes cost them nothing, and all go on when one succeeds", async () => {
  const { host, changes, waits, options } = testHost();
  let isUp = false;
  let tries = 0;
  const work = async () => {
    tries++;
    return isUp ? "fine" : failure();
  };
  const past = sleep(400); // timers end in the order of their times, however busy the machine is
  const failed = await Promise.allSettled([1, 2, 3].map(() => host.call(work, options)));
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  const waiting = Promise.all([1, 2, 3, 4].map(() => host.call(work, options)));
  await past;
  expect(tries - 3, "probes after 40, 120 and 280 ms").toBeLessThanOrEqual(3);
  isUp = true;
  expect(await waiting).toEqual(["fine", "fine", "fine", "fine"]);
  expect(changes.map(({ state }) => state)).toEqual(["paused", "resumed"]);
  expect(changes[0]?.reason).toBe("connection refused");
  expect(waits).toContain("sandbox is paused");
});

test("a plugin's own probe ends the pause, without a call", async () => {
  const { host, changes, options } = testHost();
  let probes = 0;
  host.breaker.probeWith(async () => {
    if (++probes < 3) throw new Error("still down");
  });
  await Promise.allSettled([1, 2, 3].map(() => host.call(async () => failure(), options)));
  let tries = 0;
  await host.call(async () => void tries++, options);
  expect([probes, tries]).toEqual([3, 1]);
  expect(changes.map(({ state }) => state)).toEqual(["paused", "resumed"]);
});

test("calls do not wait for ever: past its patience the host fails them, and a later one may probe", async () => {
  const { host, changes, options } = testHost({ patience: 100 });
  await Promise.allSettled([1, 2, 3].map(() => host.call(async () => failure(), options)));
  const waiting = host.call(async () => failure(), options);
  await expect(waiting).rejects.toMatchObject({ code: "TOOL_HOST_DOWN", retryable: false });
  await sleep(200);
  await expect(host.call(async () => "fine", options)).resolves.toBe("fine");
  expect(changes.map(({ state }) => state)).toEqual(["paused", "down", "resumed"]);
});

test("calls to a host that is down wait for the next probe, and fail with it", async () => {
  const { host, changes, options } = testHost({ patience: 100 });
  await Promise.allSettled([1, 2, 3].map(() => host.call(async () => failure(), options)));
  await expect(host.call(async () => failure(), options)).rejects.toMatchObject({ code: "TOOL_HOST_DOWN" });
  let tries = 0;
  const work = async () => {
    tries++;
    return failure();
  };
  const failed = await Promise.allSettled([1, 2, 3].map(() => host.call(work, options)));
  for (const one of failed)
    expect(one).toMatchObject({ status: "rejected", reason: { code: "TOOL_HOST_DOWN" } });
  expect(tries).toBe(1);
  const fine = await Promise.all([1, 2, 3].map(() => host.call(async () => "fine", options)));
  expect(fine).toEqual(["fine", "fine", "fine"]);
  expect(changes.map(({ state }) => state)).toEqual(["paused", "down", "resumed"]);
});

test("what the model does wrong says nothing of the host", async () => {
  const { host, changes, options } = testHost({ failures: 1 });
  const cancelled = host.call(async () => Promise.reject(new Error("cancelled")), options);
  await expect(cancelled).rejects.toThrow("cancelled");
  expect(changes).toEqual([]);
});
