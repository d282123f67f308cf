// biome-ignore lint/style/noRestrictedImports: who holds what on a machine
import { rmdirSync } from "node:fs";
import { isAbsence, isSystemError } from "../../base/errors/system-error.ts";
// biome-ignore lint/style/noRestrictedImports: who holds what on a machine
import { namesInSync } from "../../base/files/names-in.ts";
import { machineFolder } from "../../base/processes/machine-folder.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { freeWorkerNumbers } from "../tools/worker-number.ts";
import { toolWorker } from "./tool-worker.ts";

/**
 * Frees what workers of a run still held of its tools on this machine when they were killed, once all of them have
 * ended, and removes the machine's folder of the run once nothing is in it.
 */
export async function freeLeftInstances(runs: string, run: string): Promise<void> {
  const here = machineFolder(runFolder(runs, run).root);
  if (namesInSync(here).length === 0) return;
  const worker = toolWorker(runs, run);
  try {
    await worker.reap();
  } finally {
    await worker.close();
  }
  await freeWorkerNumbers(here);
  try {
    rmdirSync(here);
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY") && !isAbsence(error)) throw error; // a worker that was started by hand goes on
  }
}
