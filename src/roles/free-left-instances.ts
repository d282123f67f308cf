import { namesInSync } from "../files/names-in.ts";
import { runFolder } from "../runs/run-folder.ts";
import { toolWorker } from "./tool-worker.ts";

/** Frees what workers of a run still held of its tools when they were killed, once all of them have ended. */
export async function freeLeftInstances(runs: string, run: string): Promise<void> {
  if (namesInSync(runFolder(runs, run).leases).length === 0) return;
  const worker = toolWorker(runs, run);
  try {
    await worker.reap();
  } finally {
    await worker.close();
  }
}
