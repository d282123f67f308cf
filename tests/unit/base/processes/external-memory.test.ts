import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ownModule } from "../../../../src/base/processes/own-module.ts";
import { memoryFlags } from "../../../../src/control/supervision/worker-process.ts";

const subject = pathToFileURL(ownModule("src/base/processes/external-memory")).href;

/** Returns how many times a process with a worker's options collected garbage while it took 144 MiB outside the heap. */
function collections(prepare: string): number {
  const script = `
    const { PerformanceObserver, constants } = require("node:perf_hooks");
    const { setTimeout: sleep } = require("node:timers/promises");
    let whole = 0;
    const count = (list) => {
      whole += list.getEntries().filter(({ detail }) => detail.kind !== constants.NODE_PERFORMANCE_GC_MINOR).length;
    };
    new PerformanceObserver(count).observe({ entryTypes: ["gc"] });
    (async () => {
      const { limitExternalMemoryWithHeap } = await import(${JSON.stringify(subject)});
      ${prepare}
      const held = [];
      while (held.length < 9) {
        held.push(new Float32Array(2 ** 22));
        await sleep(20);
      }
      await sleep(200);
      console.log(whole);
    })();`;
  const { stdout } = spawnSync(process.execPath, [...memoryFlags, "-e", script], { encoding: "utf8" });
  return Number(stdout.trim() || "NaN");
}

test("memory outside the heap doesn't make a worker collect garbage while the heap is far from its limit", () => {
  expect(collections("")).toBeGreaterThan(0);
  expect(collections("limitExternalMemoryWithHeap();")).toBe(0);
});
