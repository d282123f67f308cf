import { dirname } from "node:path";
import type { TrainedStep } from "../contracts/ledger.ts";
import { namesIn } from "../files/names-in.ts";
import { readRecord } from "../files/whole-files.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { readLate } from "./late-trajectories.ts";

/** The steps that were trained, by number, with what was left out of them later. Throws RECORD_CORRUPT. */
export async function readTrainedSteps({
  folder,
  store,
}: Pick<OpenRun, "folder" | "store">): Promise<Map<number, TrainedStep>> {
  const names = await namesIn(dirname(folder.trainedStep(1)));
  const numbers = names.flatMap((name) => /^train-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  const steps = new Map<number, TrainedStep>();
  for (const step of numbers.sort((a, b) => a - b)) {
    const record = await readRecord<TrainedStep>(folder.trainedStep(step));
    if (record === undefined) continue;
    const { leftOut = [] } = record;
    const late = await readLate(store, step);
    steps.set(step, late.length === 0 ? record : { ...record, leftOut: [...leftOut, ...late] });
  }
  return steps;
}
