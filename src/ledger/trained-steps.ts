import { dirname } from "node:path";
import type { TrainedStep } from "../contracts/ledger.ts";
import { readRecord } from "../runs/files.ts";
import { namesIn } from "../runs/names-in.ts";
import type { RunFolder } from "../runs/run-folder.ts";

/** The steps that were trained, by number. Throws RECORD_CORRUPT. */
export async function readTrainedSteps(folder: RunFolder): Promise<Map<number, TrainedStep>> {
  const names = await namesIn(dirname(folder.trainedStep(1)));
  const numbers = names.flatMap((name) => /^train-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  const steps = new Map<number, TrainedStep>();
  for (const step of numbers.sort((a, b) => a - b)) {
    const record = await readRecord<TrainedStep>(folder.trainedStep(step));
    if (record !== undefined) steps.set(step, record);
  }
  return steps;
}
