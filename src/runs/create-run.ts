import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Plan } from "../contracts/plan.ts";
import type { RunFile } from "../contracts/run.ts";
import { queuesWith } from "../temporal/queues.ts";
import { writeWhole } from "./files.ts";
import { runFolder } from "./run-folder.ts";

/** Makes the folder of a new run, with its plan frozen in it; returns the run's id, `<pipeline>-<date>-<time>`. */
export async function createRun(
  plan: Plan,
  runs: string,
  server: { address: string; namespace: string } | undefined,
  telemetry: boolean,
): Promise<string> {
  const run = newRunId(plan.name, runs);
  const folder = runFolder(runs, run);
  await mkdir(folder.root, { recursive: true });
  const file: RunFile = {
    run,
    createdAt: new Date().toISOString(),
    namespace: server?.namespace ?? "default",
    queues: queuesWith(server === undefined ? "" : `${run}/`),
    telemetry,
    ...(server === undefined ? {} : { address: server.address }),
  };
  await writeWhole(folder.plan, `${JSON.stringify(plan, null, 2)}\n`);
  await writeWhole(folder.run, `${JSON.stringify(file, null, 2)}\n`);
  return run;
}

function newRunId(name: string, runs: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const base = `${name}-${time}`;
  let run = base;
  for (let next = 2; existsSync(runFolder(runs, run).root); next++) run = `${base}-${next}`;
  return run;
}
