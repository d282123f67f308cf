import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { messageOf } from "../../base/errors/message-of.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import type { Inspection, InspectionStart } from "./inspection.ts";

/** The maximum milliseconds for loading a module in total, and for its computation. */
const usual = { time: 60_000, work: 15_000 };

/** Milliseconds between two checks of how long it has computed. */
const interval = 500;

/**
 * Loads a module in a separate thread and returns its definition. Whatever the module does there, this thread
 * keeps running.
 */
export async function inspect(start: InspectionStart, limit = usual): Promise<Inspection> {
  const worker = new Worker(ownModule("src/plugin/define/inspection-thread"), {
    workerData: start,
    execArgv: [],
  });
  const ended = Promise.withResolvers<Inspection>();
  const exited = Promise.withResolvers<void>();
  const refuse = (reason: string, hint: string) =>
    ended.resolve({ found: { finding: { reason, hint } }, files: [start.path] });
  const tooLong = (text: string, most: number) => {
    const hint = "Move the work into the function that needs it, and do not await anything while loading.";
    refuse(`loading it ${text} for more than ${most / 1000} s`, hint);
  };
  const timer = setTimeout(() => tooLong("went on", limit.time), limit.time);
  const looking = setInterval(async () => {
    if ((await computed(worker)) > limit.work) tooLong("computed", limit.work);
  }, interval);
  worker.on("message", (message: Inspection) => ended.resolve(message));
  worker.on("error", (error) => refuse(`loading it failed: ${messageOf(error)}`, "Correct it."));
  worker.on("exit", (code) => {
    refuse(`it ended its thread while it was loaded, with exit code ${code}`, "Leave out process.exit().");
    exited.resolve();
  });
  const inspection = await ended.promise;
  clearTimeout(timer);
  clearInterval(looking);
  await Promise.race([exited.promise, sleep(1000, undefined, { ref: false })]); // it ends by itself
  await worker.terminate();
  return inspection;
}

/**
 * The milliseconds that a thread has computed. 0 for a thread that has ended, and before Node 24.6, which
 * does not report it.
 */
async function computed(worker: Worker): Promise<number> {
  if (typeof worker.cpuUsage !== "function") return 0;
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1000;
}
