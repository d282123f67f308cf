import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { lastLine, putLines } from "../../base/files/line-file.ts";
import { patiently } from "../../base/files/patiently.ts";
import { writeWhole } from "../../base/files/whole-files.ts";
import { recordedStepKey } from "../store/keys.ts";
import type { OpenRun } from "./open-runs.ts";
import { recordedSteps } from "./recorded-steps.ts";

/**
 * Appends the recorded steps up to `last` that `metrics.jsonl` lacks. The file is for people and their tools;
 * Everturn reads the records. It reads only the last line. If that is unreadable, or already has this step, which
 * was then recorded again, it rewrites the file. Waits while the disk is full (`patiently`).
 */
export async function writeMetrics(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  step: number,
): Promise<void> {
  const last = await lastStepIn(folder.metrics);
  if (last === undefined || last.step >= step) {
    const lines = (await recordedSteps(store)).map((record) => `${JSON.stringify(record)}\n`);
    await patiently(() => writeWhole(folder.metrics, lines.join("")));
    return;
  }
  const lines: string[] = [];
  for (let missing = last.step + 1; missing <= step; missing++) {
    const record = await store.read(recordedStepKey(missing));
    if (record !== undefined) lines.push(JSON.stringify(record));
  }
  if (lines.length > 0) await patiently(() => putLines(folder.metrics, lines, last.end));
}

/** The last step with a line (0 if there is none) and the offset of the next line; undefined if it can't be read. */
async function lastStepIn(metrics: string): Promise<{ step: number; end: number } | undefined> {
  try {
    const last = await patiently(() => lastLine<{ step: number }>(metrics));
    return last === undefined ? { step: 0, end: 0 } : { step: last.line.step, end: last.end };
  } catch (error) {
    if (isEverturnError(error) && error.code === "RECORD_CORRUPT") return undefined;
    throw error;
  }
}
