import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { LeftOutTrajectory, TrainedStep } from "../contracts/ledger.ts";
import { namesIn } from "../files/names-in.ts";
import { patiently } from "../files/patiently.ts";
import { readRecord, writeOnce } from "../files/whole-files.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { leftBehind } from "./left-behind.ts";

const reason = "it was drawn for the step after the step had been committed";

/**
 * Leaves out by name what a synchronous step was given after its commit: the record stands as it is, so these have a
 * file of their own beside it, named by its content. Waits where the disk is full (`patiently`).
 */
export async function leaveOutLate(run: OpenRun, step: number, record: TrainedStep): Promise<void> {
  const { trajectories, leftOut = [] } = record;
  if (trajectories === undefined) return; // of 0.2
  const late = await leftBehind(run, [...trajectories, ...leftOut], reason);
  if (late.length === 0) return;
  const content = JSON.stringify(late);
  const name = createHash("sha256").update(content).digest("hex").slice(0, 16);
  await patiently(() => writeOnce(join(stepsOf(run.folder), `late-${step}-${name}.json`), content));
}

/** What was left out so of each step. Throws RECORD_CORRUPT. */
export async function readLate(folder: RunFolder): Promise<Map<number, LeftOutTrajectory[]>> {
  const late = new Map<number, LeftOutTrajectory[]>();
  for (const name of await namesIn(stepsOf(folder))) {
    const step = Number(/^late-(\d+)-[0-9a-f]{16}\.json$/.exec(name)?.[1]);
    if (Number.isNaN(step)) continue;
    const before = late.get(step) ?? [];
    const read = (await readRecord<LeftOutTrajectory[]>(join(stepsOf(folder), name))) ?? [];
    const fresh = read.filter(({ trajectory }) => !before.some((one) => one.trajectory === trajectory));
    late.set(step, [...before, ...fresh]);
  }
  return late;
}

function stepsOf(folder: RunFolder): string {
  return dirname(folder.trainedStep(1));
}
