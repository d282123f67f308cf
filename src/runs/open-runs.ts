import { existsSync, statSync } from "node:fs";
import type { Plan } from "../contracts/plan.ts";
import type { RunFile } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { namesIn } from "../files/names-in.ts";
import { readRecord } from "../files/whole-files.ts";
import { sharedPromises } from "../promises/shared-promises.ts";
import { openRunStore } from "../store/open-run-store.ts";
import type { Store } from "../store/store.ts";
import { type RunFolder, runFolder } from "./run-folder.ts";

/** A run as an activity sees it. */
export interface OpenRun {
  id: string;
  folder: RunFolder;
  plan: Plan;
  store: Store;
}

/** Opens runs of the folder `runs` by id, each once for each plan that it has had. Throws RUN_NOT_FOUND. */
export function openRuns(runs: string): (run: string) => Promise<OpenRun> {
  const open = sharedPromises<OpenRun>();
  return (run) => {
    const { ino, mtimeMs } = statSync(runFolder(runs, run).plan, { throwIfNoEntry: false }) ?? {};
    return open.get(`${run} ${ino} ${mtimeMs}`, () => openRun(runs, run));
  };
}

/** Opens one run. Throws RUN_NOT_FOUND. */
export async function openRun(runs: string, run: string): Promise<OpenRun> {
  const folder = runFolder(runs, run);
  const plan = await readRecord<Plan>(folder.plan);
  if (plan === undefined) throw await runNotFound(runs, run);
  return { id: run, folder, plan, store: openRunStore(folder.root) };
}

/** Reads `run.json`: where the run's server is. Throws RUN_NOT_FOUND. */
export async function readRunFile(runs: string, run: string): Promise<RunFile> {
  const file = await readRecord<RunFile>(runFolder(runs, run).run);
  if (file === undefined) throw await runNotFound(runs, run);
  return file;
}

async function runNotFound(runs: string, run: string): Promise<EverturnError> {
  const names = await namesIn(runs);
  const known = names.filter((name) => existsSync(runFolder(runs, name).plan)).sort();
  const hint =
    known.length > 0
      ? `Runs there: ${known.slice(-10).join(", ")}.`
      : "There are no runs there yet; name the folder of your runs with --runs.";
  return new EverturnError("RUN_NOT_FOUND", { run, folder: runs, hint });
}
