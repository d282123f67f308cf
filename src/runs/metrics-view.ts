import { isEverturnError } from "../errors/everturn-error.ts";
import { putLine, readLines } from "../files/line-file.ts";
import { patiently } from "../files/patiently.ts";
import { writeWhole } from "../files/whole-files.ts";
import { recordedStepKey } from "../store/keys.ts";
import type { OpenRun } from "./open-runs.ts";
import { recordedSteps } from "./recorded-steps.ts";

/**
 * Writes the lines that `metrics.jsonl` lacks up to a step, of what was recorded. The file is for people and their tools:
 * Everturn reads the records. One that can't be read is written anew. Waits where the disk is full (`patiently`).
 */
export async function writeMetrics(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  step: number,
): Promise<void> {
  const written = await stepsIn(folder.metrics);
  if (written === undefined) {
    const lines = (await recordedSteps(store)).map((record) => `${JSON.stringify(record)}\n`);
    await patiently(() => writeWhole(folder.metrics, lines.join("")));
    return;
  }
  for (let missing = 1; missing <= step; missing++) {
    if (written.has(missing)) continue;
    const record = await store.read(recordedStepKey(missing));
    if (record === undefined) continue;
    const isBefore = (line: { step: number }) => line.step < missing;
    await patiently(() => putLine(folder.metrics, JSON.stringify(record), isBefore));
  }
}

/** The steps that have a line; undefined if the file can't be read. */
async function stepsIn(metrics: string): Promise<Set<number> | undefined> {
  try {
    return new Set((await readLines<{ step: number }>(metrics)).map(({ step }) => step));
  } catch (error) {
    if (isEverturnError(error) && error.code === "RECORD_CORRUPT") return undefined;
    throw error;
  }
}
