import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { recordStep } from "../../activities/record-step.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { isEverturnError } from "../../src/errors/everturn-error.ts";
import { commit, committed } from "../../src/runs/commit.ts";
import { openRun } from "../../src/runs/open-runs.ts";
import { runFolder } from "../../src/runs/run-folder.ts";

/** Trains and records the steps of a run as if it were the only worker: `<run folder> <name> <steps>`. */
const [root = "", name = "", steps = ""] = process.argv.slice(2);
const folder = runFolder(dirname(root), basename(root));
const template: StepRecord = JSON.parse(process.env.EVERTURN_TEMPLATE ?? "");

async function train(step: number): Promise<void> {
  const targets = [folder.trainer(step + 1), folder.policy(step + 1)];
  const file = folder.trainedStep(step);
  if ((await committed(file, targets)) !== undefined) return;
  try {
    const fill = async (temporary: readonly string[]) => {
      for (const path of temporary) await writeFile(join(path, "weights"), name);
    };
    await commit(file, targets, fill, () => ({ step, policyVersion: step + 1, name }));
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "ATTEMPT_SUPERSEDED") throw error;
    process.stdout.write("superseded\n");
  }
}

const record = recordStep(() => openRun(dirname(root), basename(root)));
for (let step = 1; step <= Number(steps); step++) {
  await train(step);
  await record({
    ...{ run: basename(root), finished: [] },
    record: { ...template, step, policyVersion: step + 1, rewardMean: process.pid },
  });
}
const late = { ...template, step: 1, policyVersion: 2, rewardMean: -1 };
await record({ run: basename(root), record: late, finished: [] });
