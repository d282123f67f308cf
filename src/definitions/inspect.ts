import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { messageOf } from "../errors/message-of.ts";
import { ownModule } from "../package/own-module.ts";
import type { Inspection, InspectionStart } from "./inspection.ts";

/**
 * Loads a module in a thread of its own, and says what it defines: whatever it does there, this thread goes on. `limit`:
 * milliseconds that it may take, a minute by default.
 */
export async function inspect(start: InspectionStart, limit = 60_000): Promise<Inspection> {
  const worker = new Worker(ownModule("src/definitions/inspection-thread"), {
    workerData: start,
    execArgv: [],
  });
  const ended = Promise.withResolvers<Inspection>();
  const exited = Promise.withResolvers<void>();
  const refuse = (reason: string, hint: string) =>
    ended.resolve({ found: { finding: { reason, hint } }, files: [start.path] });
  const timer = setTimeout(() => {
    const hint = "Do the work where it is needed, in a function, and leave nothing to be awaited.";
    refuse(`loading it took longer than ${limit / 1000} s`, hint);
  }, limit);
  worker.on("message", (inspection: Inspection) => ended.resolve(inspection));
  worker.on("error", (error) => refuse(`loading it failed: ${messageOf(error)}`, "Correct it."));
  worker.on("exit", (code) => {
    refuse(`it ended its thread while it was loaded, with exit code ${code}`, "Leave out process.exit().");
    exited.resolve();
  });
  const inspection = await ended.promise;
  clearTimeout(timer);
  await Promise.race([exited.promise, sleep(1000, undefined, { ref: false })]); // it ends by itself
  await worker.terminate();
  return inspection;
}
