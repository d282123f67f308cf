import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ownModule } from "../processes/own-module.ts";
import type { FromProcess, QueryRequest } from "./protocol.ts";

// The process in which queries run. Neither an interrupt nor `terminate()` can stop every query of an embedded
// database. Queries therefore run in a thread, and the main thread kills the whole process when the time or memory
// limit is reached or the parent is gone.

/**
 * Ms between two checks. One check counts as at most twice that, so time in which the process was stopped does not
 * count.
 */
const interval = 50;

const thread = new Worker(ownModule("src/base/databases/query-thread"), { execArgv: [] });
let asked = 0;

function end(): void {
  process.kill(process.pid, "SIGKILL");
}

function tell(message: FromProcess, after: () => void = () => {}): void {
  process.send?.(message, after);
}

async function watch(query: number, { seconds, memory }: QueryRequest["limits"]): Promise<void> {
  let left = seconds * 1000;
  let last = performance.now();
  while (asked === query) {
    await sleep(interval);
    if (asked !== query) return;
    const now = performance.now();
    left -= Math.min(now - last, interval * 2);
    last = now;
    const held = process.memoryUsage.rss() / 2 ** 20;
    if (left <= 0) return tell({ type: "answered", answer: { kind: "time-limit", message: "" } }, end);
    if (held > memory) return tell({ type: "answered", answer: { kind: "memory-limit", message: "" } }, end);
  }
}

thread.on("message", (message: FromProcess) => {
  asked = 0;
  tell(message);
});
thread.on("error", end);
process.on("message", (request: QueryRequest) => {
  asked = request.number;
  thread.postMessage(request);
  void watch(request.number, request.limits);
});
process.on("disconnect", end);
thread.once("online", () => tell({ type: "ready" }));
