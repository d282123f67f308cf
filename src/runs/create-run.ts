import { mkdir } from "node:fs/promises";
import type { Plan } from "../contracts/plan.ts";
import type { RunFile } from "../contracts/run.ts";
import { prefixed, separateQueues, sharedQueues } from "../temporal/queues.ts";
import { isSystemError, writeWhole } from "./files.ts";
import { runFolder } from "./run-folder.ts";

/** Makes the folder of a new run, with its plan frozen in it; returns the run's id, `<pipeline>-<date>-<time>`. */
export async function createRun(
  plan: Plan,
  runs: string,
  server: { address: string; namespace: string } | undefined,
  telemetry: boolean,
): Promise<string> {
  await mkdir(runs, { recursive: true });
  const run = await newRun(plan.name, runs);
  const folder = runFolder(runs, run);
  const file: RunFile = {
    run,
    createdAt: new Date().toISOString(),
    namespace: server?.namespace ?? "default",
    queues: server === undefined ? sharedQueues : prefixed(`${run}/`, separateQueues),
    telemetry,
    ...(server === undefined ? {} : { address: server.address }),
  };
  await writeWhole(folder.plan, `${JSON.stringify(plan, null, 2)}\n`);
  await writeWhole(folder.run, `${JSON.stringify(file, null, 2)}\n`);
  return run;
}

/** Makes the folder itself, so that of two runs that begin in the same second each gets its own. */
async function newRun(name: string, runs: string): Promise<string> {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const base = `${name}-${time}`;
  for (let next = 1; ; next++) {
    const run = next === 1 ? base : `${base}-${next}`;
    try {
      await mkdir(runFolder(runs, run).root);
      return run;
    } catch (error) {
      if (!isSystemError(error, "EEXIST")) throw error;
    }
  }
}
