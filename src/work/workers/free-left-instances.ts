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
 * Frees the tool resources that killed workers of a run still held on this machine, once all workers have
 * ended. Then removes the machine's folder of the run if it is empty.
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
    if (!isSystemError(error, "ENOTEMPTY") && !isAbsence(error)) throw error; // a worker that a user started by hand still runs
  }
}
