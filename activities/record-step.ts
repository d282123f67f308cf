import { rm } from "node:fs/promises";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import { appendLine, readLines } from "../src/runs/files.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";

/** Versions kept beside the checkpoints: the newest ones, which a resumed run may start from. */
const newest = 3;

/** Adds the step's line to `metrics.jsonl`, once, and deletes the version that is neither a checkpoint nor new. */
export function recordStep(openRun: (run: string) => Promise<OpenRun>): RunActivities["record-step"] {
  return async ({ run, record }) => {
    const { folder, plan } = await openRun(run);
    const lines = await readLines<StepRecord>(folder.metrics);
    if (!lines.some((line) => line.step === record.step)) {
      await appendLine(folder.metrics, JSON.stringify(record));
    }
    const old = record.policyVersion - newest;
    const first = plan.warmStart === undefined ? 0 : 1;
    const isCheckpoint = old <= first || (old - first) % plan.checkpoints.every === 0;
    if (isCheckpoint) return;
    for (const path of [folder.policy(old), folder.trainer(old)])
      await rm(path, { recursive: true, force: true });
  };
}
