import { dirname } from "node:path";
import type { TrainedStep } from "../contracts/ledger.ts";
import { namesIn } from "../files/names-in.ts";
import { readRecord } from "../files/whole-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { readLate } from "./late-trajectories.ts";

/** The steps that were trained, by number, with what was left out of them later. Throws RECORD_CORRUPT. */
export async function readTrainedSteps(folder: RunFolder): Promise<Map<number, TrainedStep>> {
  const names = await namesIn(dirname(folder.trainedStep(1)));
  const numbers = names.flatMap((name) => /^train-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  const late = await readLate(folder);
  const steps = new Map<number, TrainedStep>();
  for (const step of numbers.sort((a, b) => a - b)) {
    const record = await readRecord<TrainedStep>(folder.trainedStep(step));
    if (record === undefined) continue;
    const { leftOut = [] } = record;
    steps.set(
      step,
      late.has(step) ? { ...record, leftOut: [...leftOut, ...(late.get(step) ?? [])] } : record,
    );
  }
  return steps;
}
